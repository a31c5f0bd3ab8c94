import { describe, expect, it } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../builders/write-options.ts'
import { meaning } from './same.ts'
import { handedTo, holds, plain, same } from './support.ts'
import { jobsWith, WORKS } from './works.ts'

describe('second pass: a value that was written in a format is written in it again without loss', () => {
  it.each(jobsWith('request'))('%s: %s', (format, work) => {
    holds(WORKS[work]!.request, given => {
      const asked = handedTo(format, given)
      const once = READERS[format]!.request!(plain(WRITERS[format]!.request!(asked, FOREIGN).wire))
      const twice = WRITERS[format]!.request!(once, NATIVE)
      expect(twice.losses).toEqual([])
      same(meaning(READERS[format]!.request!(plain(twice.wire))), meaning(once))
    })
  })
})

describe('pure and stable: writing a request changes nothing and gives equal bytes twice', () => {
  it.each(jobsWith('request'))('%s: %s', (format, work) => {
    holds(WORKS[work]!.request, given => {
      const asked = handedTo(format, given)
      const before = plain(asked)
      const first = JSON.stringify(WRITERS[format]!.request!(asked, FOREIGN))
      same(asked, before)
      expect(JSON.stringify(WRITERS[format]!.request!(asked, FOREIGN))).toBe(first)
    })
  })
})
