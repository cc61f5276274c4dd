import type { FileStore } from '../../src/lib/file-folder.ts';

export const NAME = /^[0-9a-f]{32}$/;
export const chunks = async function* (count: number, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at += 1) yield Buffer.alloc(bytes, at);
};

/** What a folder and a bucket have in common. `names`: of the files to be seen. */
export function describeFileStore(
  what: string,
  open: () => { files: FileStore; names: () => Promise<string[]> },
): void {
  describe(what, () => {
    test('gives back what was written, under a random name', async () => {
      const { files, names } = open();
      const [one, two] = [await files.write(Buffer.from('one')), await files.write(chunks(3, 2))];
      expect(one).toMatch(NAME);
      expect(await files.read(one)).toEqual(Buffer.from('one'));
      expect(await files.read(two)).toEqual(Buffer.from([0, 0, 1, 1, 2, 2]));
      expect(await (await files.stream(one)).toArray()).toEqual([Buffer.from('one')]);
      expect(await names()).toEqual(expect.arrayContaining([one, two]));
      expect(await files.read(await files.write(chunks(0, 1)))).toHaveLength(0);
    });

    test('replaces the content of a file', async () => {
      const { files, names } = open();
      const name = await files.write(Buffer.from('old'));
      const before = await names();
      await files.replace(name, Buffer.from('new'));
      expect([await files.read(name), await names()]).toEqual([Buffer.from('new'), before]);
    });

    test('removes a file; reading it then fails, and removing it again does nothing', async () => {
      const { files, names } = open();
      const name = await files.write(Buffer.from('gone'));
      await files.remove(name);
      await files.remove(name);
      expect(await names()).not.toContain(name);
      await expect(files.read(name)).rejects.toThrow(/ENOENT|not in the bucket/);
      await expect(files.stream(name)).rejects.toThrow(/ENOENT|not in the bucket/);
    });

    test.each(['', '../x', 'a'.repeat(31), 'A'.repeat(32), `${'a'.repeat(32)}/b`])(
      'takes no other name: "%s"',
      async (name) => {
        const { files } = open();
        const calls = [files.read(name), files.stream(name), files.remove(name), files.replace(name, Buffer.from('x'))];
        for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
      },
    );

    test('shows nothing of a content that ends with an error, which is thrown as it is', async () => {
      const { files, names } = open();
      const before = await names();
      const error = new Error('the run was superseded');
      const content = async function* () {
        yield* chunks(60, 100_000);
        throw error;
      };
      await expect(files.write(content())).rejects.toBe(error);
      expect(await names()).toEqual(before);
      expect((await files.listOlder(-60_000)).toSorted()).toEqual(before.toSorted());
    });

    test('lists the files that are old enough', async () => {
      const { files, names } = open();
      await files.write(Buffer.from('young'));
      expect(await files.listOlder(60_000)).toEqual([]);
      expect((await files.listOlder(-60_000)).toSorted()).toEqual((await names()).toSorted());
    });
  });
}
