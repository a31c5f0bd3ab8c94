import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAddressable } from '../../src/canonical/model-name.ts'
import { pathOf } from '../../src/egress/contents/path.ts'
import { route } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { permitting } from '../builders/permissions.ts'
import { holds } from '../laws/support.ts'

const pieces = fc.constantFrom(
  'flash',
  'pro',
  '.',
  '..',
  '/',
  '\\',
  '%2e',
  '%2F',
  '%5c',
  '%25',
  '%',
  ';',
  'é',
  ' ',
  ':',
)
const names = fc.array(pieces, { maxLength: 8 }).map(list => list.join(''))

/** Returns all interpretations of a path by servers that decode it once more, or take a backslash for a slash. */
function readings(path: string): string[] {
  const all: string[] = []
  for (let text = path, left = 10; left > 0; left--) {
    all.push(new URL(`http://x${text.replaceAll('\\', '/').replaceAll(/;[^/]*/g, '')}`).pathname)
    try {
      text = decodeURIComponent(text)
    } catch {
      text = text.replaceAll(/%(2e|2f|5c|25)/gi, found => decodeURIComponent(found))
    }
  }
  return all
}

describe('trap 105: a name that may be part of an address', () => {
  test('leads to no other place, however often its path is decoded', () => {
    const leadsNowhereElse = (name: string): void => {
      if (!isAddressable(name)) return
      for (const path of readings(pathOf(name, 'generateContent', { vertex: false } as never)))
        expect(path.startsWith('/v1beta/models/')).toBe(true)
    }
    // For a server that ignores parameters, the blank is at the end of the path. A URL is trimmed.
    holds(names, leadsNowhereElse, ['.. ;'])
  })

  test('is asked for wherever a request is routed', () => {
    const config = channelAt('http://127.0.0.1:1', { models: { named: new Map(), patterns: ['*'] } })
    for (const work of ['conversation', 'realtime', 'video', 'speech'] as const)
      expect(() =>
        route({ model: 'flash\\..\\pro', format: 'chat', work, permissions: permitting('*'), now: 0, draw: '' }, [
          { config, health: {} as never },
        ]),
      ).toThrow('model: must be the name of a model.')
  })
})
