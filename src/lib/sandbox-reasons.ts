import { z } from 'zod';

export const SANDBOX_REASONS = {
  SANDBOX_AMOUNT_REJECTED: 'The sandbox rejects amounts that end in .13.',
  SANDBOX_TIN_REJECTED: 'The sandbox rejects a TIN that ends in 13.',
  SANDBOX_TIN_MORE_INFO: 'The sandbox requests more information for a TIN that ends in 15.',
} as const;

export type SandboxReason = keyof typeof SANDBOX_REASONS;

/** `messageCode` beside a message in responses: nothing beside the words of a person. */
export function messageCodeOf(message: unknown): { messageCode?: SandboxReason } {
  const found = Object.entries(SANDBOX_REASONS).find(([, reason]) => reason === message);
  return found ? { messageCode: found[0] as SandboxReason } : {};
}

/** The same in schemas of responses. */
export const messageCode = z
  .enum(Object.keys(SANDBOX_REASONS))
  .optional()
  .describe("The code of a message that is the sandbox's own; none beside the words of an operator or a bank");
