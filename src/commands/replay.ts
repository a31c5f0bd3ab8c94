import { existsSync } from 'node:fs'
import type { Fault } from '../kit/recordings/faults.ts'
import { readFolder } from '../kit/recordings/folder.ts'
import type { MissPolicy } from '../kit/recordings/passed-misses.ts'
import { openReplay } from '../kit/recordings/replay-server.ts'
import { advised } from '../server/listening.ts'
import { counted } from './counted.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { checkUpstream } from './record-command.ts'
import { untilStopped } from './serving.ts'

export interface ReplayCommandOptions {
  readonly host: string
  readonly port: number
  readonly ignore: readonly string[]
  /** Speed as a multiple of the recorded speed. 0 means no waiting. */
  readonly timing: number
  readonly fault: readonly Fault[]
  readonly seed: number
  readonly onMiss: 'fail' | 'record' | 'upstream'
  readonly upstream?: string
  readonly redact: readonly string[]
  readonly strict?: true
}

/**
 * `interlingua replay DIR`: answers from a folder of recordings. Needs no key.
 *
 * @throws Error if the folder has no recordings or, with `strict`, if nobody requested some of them.
 */
export async function replayCommand(folder: string, options: ReplayCommandOptions, terminal: Terminal): Promise<void> {
  const { host, port, ignore, timing: speed, fault: faults, seed, strict } = options
  const onMiss = missPolicyOf(folder, options, terminal)
  const recordings = options.onMiss === 'record' && !existsSync(folder) ? [] : readFolder(folder)
  if (recordings.length === 0 && onMiss === undefined) throw new UsageError(`${folder} contains no recordings`)
  const replay = await openReplay({
    ...{ recordings, ignore, speed, faults, seed, host, port },
    ...(onMiss === undefined ? {} : { onMiss }),
  }).catch((fault: Error) => {
    throw advised(fault, { host, port }, '--port')
  })
  terminal.out(`Serving ${counted(recordings.length, 'recording')} from ${folder} on ${replay.url}`)
  await untilStopped()
  await replay.close()
  for (const miss of replay.misses) terminal.fault(miss)
  if (strict && replay.unused.length > 0)
    throw new Error(`nobody requested these recordings:\n${replay.unused.join('\n')}`)
}

/** Returns the policy for a request without a recording, or undefined if the request fails. */
function missPolicyOf(
  folder: string,
  { onMiss, upstream, redact }: ReplayCommandOptions,
  terminal: Terminal,
): MissPolicy | undefined {
  if (onMiss === 'fail') return undefined
  if (upstream === undefined) throw new UsageError(`--on-miss ${onMiss} needs --upstream`)
  checkUpstream(upstream)
  if (onMiss === 'upstream') return { upstream }
  const warn = (message: string): void => terminal.fault(`warning: ${message}`)
  return { upstream, record: { folder, redact, warn, onWritten: file => terminal.out(`recorded ${file}`) } }
}
