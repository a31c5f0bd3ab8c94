import { withEscapedControls } from '../canonical/text.ts'
import { openRecordProxy } from '../kit/recordings/record-proxy.ts'
import { Recorder } from '../kit/recordings/recorder.ts'
import { advised } from '../server/listening.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { untilStopped } from './serving.ts'

export interface RecordOptions {
  readonly upstream: string
  readonly host: string
  readonly port: number
  readonly redact: readonly string[]
  readonly ignore: readonly string[]
  readonly refresh?: true
  readonly key?: string
}

/**
 * `interlingua record --upstream URL DIR`: passes requests to an upstream and records them.
 *
 * @throws UsageError for an invalid URL or rule.
 */
export async function recordCommand(folder: string, options: RecordOptions, terminal: Terminal): Promise<void> {
  const { upstream, host, port, redact, ignore } = options
  checkUpstream(upstream)
  if (options.refresh) return refreshCommand(folder, options, terminal)
  const recorder = recorderOf({ folder, redact, ignore }, terminal)
  const proxy = await openRecordProxy({ upstream, recorder, host, port }).catch((fault: Error) => {
    throw advised(fault, { host, port }, '--port')
  })
  terminal.out(`Recording ${upstream} into ${folder}; base URL for clients: ${proxy.url}`)
  await untilStopped()
  await proxy.close()
}

/**
 * `interlingua record --refresh`: records the answers in a folder again and prints how their shape changed.
 *
 * @throws Error if a shape changed or a recording was not refreshed, so that the process exits with 1.
 */
async function refreshCommand(folder: string, { upstream, key }: RecordOptions, terminal: Terminal): Promise<void> {
  const { refresh } = await import('../kit/recordings/refresh.ts')
  let [count, changed, unrefreshed] = [0, 0, 0]
  for await (const { file, drift, reasonKept } of refresh({ folder, upstream, key })) {
    count++
    if (reasonKept !== undefined) unrefreshed++
    if (drift.length > 0) changed++
    const lines = reasonKept === undefined ? drift : [`not refreshed: ${reasonKept}`]
    if (lines.length > 0) terminal.out([file, ...lines.map(line => `  ${line}`)].map(withEscapedControls).join('\n'))
  }
  terminal.out(`Refreshed ${count - unrefreshed} of ${count} recordings; ${changed} changed their shape`)
  if (changed + unrefreshed > 0) throw new Error('the recordings differ from what the upstream answers now')
}

/** @throws UsageError if the base URL of an upstream is not an HTTP URL. */
export function checkUpstream(upstream: string): void {
  if (!/^https?:\/\//.test(upstream) || !URL.canParse(upstream)) throw new UsageError(`${upstream} is not a URL`)
}

/** Creates a recorder that reports its files and its failures to the terminal. */
function recorderOf(
  rules: { folder: string; redact: readonly string[]; ignore: readonly string[] },
  terminal: Terminal,
) {
  try {
    return new Recorder({
      ...rules,
      warn: message => terminal.fault(`warning: ${message}`),
      onWritten: file => terminal.out(`recorded ${file}`),
    })
  } catch (thrown) {
    throw new UsageError((thrown as Error).message)
  }
}
