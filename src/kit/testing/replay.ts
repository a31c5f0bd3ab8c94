import { existsSync } from 'node:fs'
import { ROWS } from '../../formats/rows/index.ts'
import { readFolder } from '../recordings/folder.ts'
import type { MissPolicy } from '../recordings/passed-misses.ts'
import { openReplay } from '../recordings/replay-server.ts'
import { checkOptions } from './checked-options.ts'
import {
  type ReplayMode,
  type TestReplay,
  type TestReplayOptions,
  UnmatchedRequests,
  UnusedRecordings,
} from './test-replay.ts'

/** Key for clients, which no provider checks. */
const PLACEHOLDER_KEY = 'replay'

/**
 * Opens a folder of recordings as a server. Equal requests are answered in the order of the recordings, separately for
 * each server.
 *
 * @throws Error if the folder does not exist in mode `replay`, a file is not a recording, or the mode needs an
 * upstream.
 * @throws TypeError if an option has a wrong value.
 */
export async function replay(folder: string, options: TestReplayOptions = {}): Promise<TestReplay> {
  checkOptions(options)
  const { mode = modeOf(process.env), ignore = [], speed = 0, strict = false } = options
  // A variable of an environment without secrets is often empty.
  const key = options.key || PLACEHOLDER_KEY
  const warnings: string[] = []
  const onMiss = missPolicy(folder, mode, options, message => warnings.push(message))
  const usesRecordings = mode === 'replay' || (mode === 'record' && existsSync(folder))
  const recordings = usesRecordings ? readFolder(folder) : []
  const server = await openReplay({ recordings, ignore, speed, ...(onMiss === undefined ? {} : { onMiss }) })
  const check = (): void => {
    const faults = [...server.misses, ...warnings]
    if (faults.length > 0) throw new UnmatchedRequests(faults.join('\n\n'))
    if (strict && mode === 'replay' && server.unused.length > 0) throw new UnusedRecordings(folder, server.unused)
  }
  const close = async (): Promise<void> => {
    await server.close()
    check()
  }
  return {
    ...{ mode, key, url: server.url, misses: server.misses, check, close },
    get unused() {
      return server.unused
    },
    baseURL: format => baseUrl(server.url, format),
    [Symbol.asyncDispose]: close,
  }
}

function modeOf(env: { readonly [name: string]: string | undefined }): ReplayMode {
  if (env['INTERLINGUA_RECORD'] === '1') return 'record'
  return env['INTERLINGUA_REPLAY'] === 'off' ? 'off' : 'replay'
}

function missPolicy(
  folder: string,
  mode: ReplayMode,
  { upstream, redact = [] }: TestReplayOptions,
  warn: (message: string) => void,
): MissPolicy | undefined {
  if (mode === 'replay') return undefined
  if (upstream === undefined) throw new Error(`The mode ${mode} needs the option \`upstream\`.`)
  return mode === 'off' ? { upstream } : { upstream, record: { folder, redact, warn } }
}

function baseUrl(url: string, format: string): string {
  const row = ROWS.get(format)
  if (row === undefined) throw new Error(`There is no format ${format}; formats are ${[...ROWS.keys()].join(', ')}.`)
  return row.upstream?.versioned === 'base' ? `${url}/v1` : url
}
