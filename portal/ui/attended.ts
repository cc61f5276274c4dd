const ATTENDED_MS = 60_000;

let lastInputAt = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastInputAt = Date.now()), { capture: true, passive: true });
}

/** Whether the person has used keyboard or pointer within a minute. Else what the page reads is its own refreshing. */
export const isAttended = (): boolean => Date.now() - lastInputAt < ATTENDED_MS;
