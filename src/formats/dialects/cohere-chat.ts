import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'

/** Dialect flags of Cohere chat upstreams. */
export const FLAGS = {
  thinks: {
    values: 'boolean',
    default: false,
    meaning:
      'takes thinking settings and the reasoning of earlier turns; default: true for Command A Reasoning and Command A+',
  },
} as const satisfies Flags

export type CohereChatDialect = DialectOf<typeof FLAGS>

export const cohereChatDialect = (dialect: JsonObject): CohereChatDialect => dialect as CohereChatDialect
