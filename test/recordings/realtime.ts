import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { JsonObject } from '../../src/canonical/node.ts'
import { HOME } from './recording.ts'

export interface Frame {
  readonly direction: 'sent' | 'received'
  readonly data: JsonObject
}

/** A recorded realtime session. */
export interface SessionRecording {
  readonly name: string
  readonly vendor: 'openai' | 'azure' | 'voice-live' | 'google' | 'xai'
  readonly frames: readonly Frame[]
}

const vendorOf = (name: string): SessionRecording['vendor'] => {
  if (/google/.test(name)) return 'google'
  if (/xai/.test(name)) return 'xai'
  if (/voice-live/.test(name)) return 'voice-live'
  return /azure/.test(name) ? 'azure' : 'openai'
}

/** Recorded sessions, if there are recordings. */
export const SESSIONS: readonly SessionRecording[] = globSync(join(HOME, 'realtime', '*.json'))
  .sort()
  .map(path => {
    const name = basename(path, '.json')
    const { frames } = JSON.parse(readFileSync(path, 'utf8')) as { readonly frames: readonly Frame[] }
    return { name, vendor: vendorOf(name), frames }
  })

/** Dialect of each vendor. */
export const DIALECTS: { readonly [vendor: string]: JsonObject } = {
  openai: {},
  azure: {},
  'voice-live': { naming: 'beta' },
  xai: { layout: 'mixed', item_done: false },
}
