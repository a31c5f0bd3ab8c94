import { describe, it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { meaning } from '../../src/canonical/same.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { FOREIGN } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
import { formatsWith, holds, plain, same } from './support.ts'
import { WIRES } from './wires.ts'

const FORMATS = formatsWith('request')
const pairs = FORMATS.flatMap(from => FORMATS.filter(to => to !== from).map(to => [from, to] as const))

describe('any two formats: a caller’s request, written in another format and read back, is itself minus the losses', () => {
  it.skipIf(pairs.length === 0).each(pairs)('%s to %s', (from, to) => {
    holds(WIRES[from]!.request, wire => {
      const asked = READERS[from]!.request!(wire)
      const { wire: written, losses } = WRITERS[to]!.request!(asked, FOREIGN)
      same(meaning(READERS[to]!.request!(plain(written))), meaning(lose(asked, losses)))
    })
  })
})
