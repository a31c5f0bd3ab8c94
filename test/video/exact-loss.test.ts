import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { lose } from '../../src/canonical/loss.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { lossHeaders, shownLosses } from '../../src/egress/losses.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN } from '../builders/write-options.ts'
import { meaning } from '../laws/same.ts'
import { handedTo, holds, plain, same } from '../laws/support.ts'
import { WIRES } from '../laws/wires.ts'
import { WORKS } from '../laws/works.ts'
import { UNDERSTOOD } from './written.ts'

/* Laws for formats that no caller speaks, checked against independent code. */

describe.each(Object.keys(UNDERSTOOD))('%s', format => {
  const { request } = WORKS.video!
  const write = WRITERS[format]!.request!

  it('what the upstream understands is the request minus what was reported lost', () => {
    holds(request, given => {
      const asked = handedTo(format, given)
      const { wire, losses } = write(asked, FOREIGN)
      same(meaning(UNDERSTOOD[format]!(plain(wire))), meaning(lose(asked, losses)))
      lossHeaders(shownLosses(losses))
    })
  })

  it('writing changes nothing, and gives equal bytes twice', () => {
    holds(request, given => {
      const asked = handedTo(format, given)
      const before = structuredClone(plain(asked))
      const first = JSON.stringify(write(asked, FOREIGN))
      same(plain(asked), before)
      expect(JSON.stringify(write(asked, FOREIGN))).toBe(first)
    })
  })

  it('any body is a task or a failure', () => {
    const bodies = fc.oneof(WIRES[format]!.result, fc.dictionary(fc.string(), fc.jsonValue()))
    holds(bodies as fc.Arbitrary<JsonObject>, body => {
      try {
        const { task, id } = READERS[format]!.result!({ status: 200, headers: {}, body }, WORKS.video!.asked)
        expect(id).toEqual(expect.stringMatching(/./s))
        expect(task!.state === 'failed').toBe(task!.failure !== undefined)
        expect(task!.state === 'completed').toBe(task!.files !== undefined && task!.files.length > 0)
        expect(task!.failure?.message).not.toBe('')
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
      }
    })
  })
})
