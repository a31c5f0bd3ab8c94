import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { withoutRedundantParts } from '../../src/canonical/repair.ts'
import { tracedToOriginal } from '../../src/canonical/trace.ts'
import { workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FORMAT_FACTS as FORMATS_OF } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { meaning } from './same.ts'
import { formatsWith, handedTo, holds, plain, same } from './support.ts'
import { WIRES } from './wires.ts'

const FORMATS = formatsWith('request')
const shareWork = (a: string, b: string): boolean =>
  FORMATS_OF.get(a)!.does.some(work => FORMATS_OF.get(b)!.does.includes(work))
const pairs = FORMATS.flatMap(from =>
  FORMATS.filter(to => to !== from && shareWork(from, to)).map(to => [from, to] as const),
)

describe('any two formats: a caller’s request, written in another format and read back, is itself minus the losses', () => {
  it.skipIf(pairs.length === 0).each(pairs)('%s to %s', (from, to) => {
    holds(WIRES[from]!.request, wire => {
      const asked = handedTo(to, READERS[from]!.request!(wire))
      if (!FORMATS_OF.get(to)!.does.includes(workOf(asked))) return
      const { request, losses: gone } = withoutRedundantParts(asked)
      const { wire: written, losses } = WRITERS[to]!.request!(request, FOREIGN)
      const lost = [...gone, ...tracedToOriginal(losses, gone, asked.messages)]
      same(meaning(READERS[to]!.request!(plain(written))), meaning(lose(asked, lost)))
    })
  })
})
