import type { DialectOf, Flags } from './flag.ts'

/** Dialect flags of realtime upstreams. */
export const FLAGS = {
  naming: {
    values: ['ga', 'beta'],
    default: 'ga',
    meaning:
      "the names of events and fields: OpenAI's since general availability (default), or the beta's (Azure Voice Live), whose upstreams get `OpenAI-Beta: realtime=v1`",
  },
  layout: {
    values: ['ga', 'beta', 'mixed'],
    meaning:
      "the structure of a session's fields; `mixed` is xAI's: formats below `audio`, voice and turn detection beside it",
  },
  item_done: { values: 'boolean', default: true, meaning: 'sends `conversation.item.done`; default: true' },
} as const satisfies Flags

export type RealtimeFlags = DialectOf<typeof FLAGS>
