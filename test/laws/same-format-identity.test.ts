import { describe, expect, it } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { NATIVE } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
import { asked } from './arbitrary-result.ts'
import { completed } from './exceptions.ts'
import { formatsWith, holds, same } from './support.ts'
import { ANSWERS, WIRES } from './wires.ts'

describe('same-format identity: a request goes out as it came in, with no losses', () => {
  it.each(formatsWith('request'))('%s', format => {
    holds(WIRES[format]!.request, wire => {
      const { wire: written, losses } = WRITERS[format]!.request!(READERS[format]!.request!(wire), NATIVE)
      same(written.body, wire.body)
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: an answer goes out as it came in, with no losses', () => {
  it.each(ANSWERS)('%s', (_, format, answers, asked) => {
    holds(answers, body => {
      const read = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
      const { wire, losses } = WRITERS[format]!.result!(read, asked)
      same(wire.body, completed(format, body))
      expect(losses).toEqual([])
    })
  })
})

describe('same-format identity: an answer that is no JSON goes out as it came in, with no losses', () => {
  it.each(formatsWith('result').filter(format => WIRES[format]!.raw !== undefined))('%s', format => {
    holds(WIRES[format]!.raw!, answer => {
      const { wire, losses } = WRITERS[format]!.result!(READERS[format]!.result!(answer, asked), asked)
      same(wire, answer)
      expect(losses).toEqual([])
    })
  })
})
