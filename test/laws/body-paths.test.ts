import { describe, expect, it } from 'vitest'
import type { Loss, Path } from '../../src/canonical/loss.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireRequest } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { isAddition } from '../../src/egress/losses.ts'
import { bodyPaths } from '../../src/ingress/body-paths.ts'
import { READERS } from '../../src/ingress/index.ts'
import { valueAt } from '../../src/kit/pointer.ts'
import { formatsWith, handedTo, holds } from './support.ts'
import { WIRES } from './wires.ts'

/* The path of a loss points to the lost value in the caller's own body. */

/** Values that no field of a body states, by the reason why they are in the request. */
const UNSAID: { readonly [reason: string]: readonly string[] } = {
  'the endpoint or the path of the request says it': [
    ...['output/count', 'output/compaction', 'output/modalities', 'output/transcript', 'output/transcript/task'],
    ...['output/video', 'output/image', 'output/embedding', 'output/ranking', 'stream', 'sampling', 'output'],
  ],
  'a default of the format': ['output/audio/mediaType', 'output/text/name', 'output/ranking/echo', 'output/audio'],
  'items of the input declare all tools': ['tools'],
}
const ALL_UNSAID = new Set(Object.values(UNSAID).flat())

/** Returns the losses of a request in every other format, without additions. */
function lossesOf(format: string, request: CanonicalRequest): Loss[] {
  return Object.keys(WRITERS).flatMap(to => {
    const write = WRITERS[to]!.request
    if (to === format || write === undefined) return []
    try {
      return write(handedTo(to, request), { dialect: {}, native: false }).losses.filter(loss => !isAddition(loss))
    } catch {
      return []
    }
  })
}

/** Whether the path is in a file of a form. A file is no field of the body. The path names its part. */
const isFile = ({ files = [] }: WireRequest, [field]: Path): boolean => files.some(one => one.field === field)

const read = (format: string, wire: WireRequest): CanonicalRequest | undefined => {
  try {
    return READERS[format]!.request!(wire)
  } catch {
    return undefined
  }
}

describe.each(formatsWith('request').filter(format => WIRES[format]!.request !== undefined))(
  'requests of %s',
  format => {
    it('lose what stands in their body, at the path of the loss', () => {
      holds(WIRES[format]!.request, wire => {
        const request = read(format, wire)
        if (request === undefined) return
        const pathOf = bodyPaths(READERS[format]!, format, request)
        for (const { path, reason } of lossesOf(format, request)) {
          const found = pathOf(path)
          const value = valueAt(wire.body, found)
          const why = `${path.join('/')} (${reason}) at ${found.join('/')}`
          if (value === undefined) {
            expect(isFile(wire, found) || ALL_UNSAID.has(path.join('/')), why).toBe(true)
            continue
          }
          expect(found.length, why).toBeGreaterThan(0)
          const lost = valueAt(request, path)
          // A sampling setting is a plain value and equals the value in the body.
          if (path[0] === 'sampling' && typeof lost === 'number' && typeof value === 'number')
            expect(value, why).toBe(lost)
        }
      })
    })

    it('have each tool at its own path', () => {
      holds(WIRES[format]!.request, wire => {
        const request = read(format, wire)
        if (request?.tools === undefined) return
        const pathOf = bodyPaths(READERS[format]!, format, request)
        for (const [index, tool] of request.tools.entries()) {
          const text = JSON.stringify(valueAt(wire.body, pathOf(['tools', index])) ?? null)
          if (tool.type === 'function' || tool.type === 'freeform') expect(text).toContain(JSON.stringify(tool.name))
          else expect(text).not.toBe('null')
        }
      })
    })
  },
)
