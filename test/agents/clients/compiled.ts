import { join } from 'node:path'
import type { Package } from '../versions.ts'
import type { Client, Command } from './client.ts'
import { ALL, library } from './library.ts'

/*
 * Libraries of compiled languages. There is one program per language, whose arguments are the library and the format.
 */

const compiled = (from: Package, run: (installed: string) => Command['run'], ...args: readonly string[]): Client =>
  library({
    name: [from, ...args].join('-'),
    package: from,
    model: 'own-model',
    scenarios: ALL,
    run: installed => [...run(installed), ...args],
  })

const go = (format: string): Client => compiled('go', installed => [join(installed, 'sessions')], format)

/** Flags of the first compiler, which starts soonest. Most of a short run is the start. */
const JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']
const java = (format: string): Client =>
  compiled(
    'java',
    installed => ['java', ...JVM, '-cp', `${join(installed, 'classes')}:${join(installed, 'lib')}/*`, 'Sessions'],
    format,
  )

const rust = (library: string, format: string): Client =>
  compiled('rust', installed => [join(installed, 'sessions')], library, format)

const FORMATS = ['chat', 'responses', 'messages', 'contents']

export const COMPILED: readonly Client[] = [
  ...FORMATS.map(go),
  ...FORMATS.map(java),
  ...['chat', 'responses'].map(format => rust('async-openai', format)),
  ...['chat', 'messages', 'contents'].flatMap(format => [rust('genai', format), rust('rig', format)]),
]
