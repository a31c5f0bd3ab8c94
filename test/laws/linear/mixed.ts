import fc from 'fast-check'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import type { WireRequest } from '../../../src/canonical/wire.ts'
import { type Work, workOf } from '../../../src/canonical/work.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { lossHeaders, shownLosses } from '../../../src/egress/losses.ts'
import { FORMAT_FACTS } from '../../../src/formats/index.ts'
import { prepare, refusalFor } from '../../../src/gateway/prepare.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { channelAt } from '../../builders/config.ts'
import { plain } from '../support.ts'
import { ANSWERS, WIRES } from '../wires.ts'
import { type Mixture, mixturesOf } from './mixtures.ts'

/* Requests and answers of every format and kind of work, with a long list in each position that has a list. */

type Cells = (n: number) => Iterable<readonly [cell: string, run: () => unknown]>

const SAMPLES = { numRuns: 120, seed: 1 }

/** Yields requests, read and written for every format that does their work. */
export function* requests(): Generator<readonly [shape: string, cells: Cells]> {
  for (const from of Object.keys(WIRES)) {
    const read = READERS[from]!.request
    if (read === undefined) continue
    const samples = fc.sample(WIRES[from]!.request, SAMPLES).filter(({ files }) => files === undefined)
    const byWork = Map.groupBy(samples, wire => workOf(read(wire)))
    for (const [work, wires] of byWork)
      for (const [place, make] of mixturesOf(wires.map(wire => plain(wire) as unknown as JsonObject)))
        if (place.startsWith('body/')) yield [`${from}, ${work}: ${place}`, requestCells(from, work, make)]
  }
}

const doing = (work: Work): readonly Format[] =>
  [...FORMAT_FACTS].flatMap(([format, { does }]) => (does.includes(work) && WRITERS[format]?.request ? [format] : []))

const requestCells = (from: Format, work: Work, make: Mixture): Cells =>
  function* (n) {
    const wire = make(n) as unknown as WireRequest
    for (const to of doing(work)) yield [to, tolerant(() => pass(from, to, wire))] as const
  }

/** Passes a request as the gateway does: reads, repairs and writes it, and locates its losses. */
function pass(from: Format, to: Format, wire: WireRequest): void {
  const request = READERS[from]!.request!(wire)
  const channel = channelAt('http://127.0.0.1', { format: to })
  const target = { channel, format: channel.formats[0]!, native: from === to, emulated: false, resting: false }
  const { losses } = prepare(request, { ...target, upstreamModel: request.model })
  refusalFor(request, losses, 'show')
  const locate = READERS[from]!.locate?.(request)
  const seen = shownLosses(losses)
  lossHeaders(locate === undefined ? seen : seen.map(loss => ({ ...loss, path: locate(loss.path) })))
}

/** Yields whole answers, read and written in every format that has such answers. */
export function* answers(): Generator<readonly [shape: string, cells: Cells]> {
  for (const [name, from, arbitrary, asked] of ANSWERS) {
    const works = doing(workOf(asked)).filter(format => WRITERS[format]!.result !== undefined)
    for (const [place, make] of mixturesOf(fc.sample(arbitrary, SAMPLES).map(plain)))
      yield [
        `answer of ${name}: ${place}`,
        function* (n) {
          const answer = { status: 200, headers: {}, body: make(n) }
          for (const to of works)
            yield [to, tolerant(() => WRITERS[to]!.result!(READERS[from]!.result!(answer, asked), asked))] as const
        },
      ]
  }
}

const tolerant = (run: () => unknown) => (): void => {
  try {
    run()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
  }
}
