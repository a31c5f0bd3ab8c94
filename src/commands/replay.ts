import { advised } from '../server/listening.ts'
import { openMock } from '../upstreams/mock/index.ts'
import type { Terminal } from './outcome.ts'
import { untilStopped } from './serving.ts'

/** `interlingua replay DIR`: serves a folder of fixtures as a mock upstream that needs no key. */
export async function replayCommand(folder: string, host: string, port: number, terminal: Terminal): Promise<void> {
  const replay = await openMock({ folder, host, port }).catch((fault: Error) => {
    throw advised(fault, { host, port }, '--port')
  })
  if (replay.cases.length === 0) {
    await replay.close()
    throw new Error(`${folder} contains no fixtures (<format>/<case>.result.json or .events.sse)`)
  }
  terminal.out(`Serving ${replay.cases.length} fixtures from ${folder} on ${replay.url}`)
  await untilStopped()
  await replay.close()
}
