import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestRatio, nearestSize, pixelsOf } from '../../../src/canonical/media/video-size.ts'
import { holds } from '../../laws/runs.ts'

test('a size has two numbers of pixels', () => {
  for (const size of ['1280x720', '1280X720', '1280×720', '1280*720']) expect(pixelsOf(size)).toEqual([1280, 720])
  for (const other of [undefined, '', 'auto', '16:9', '0x720', '1280x0', '1280x', 'x720', '123456x1', ' 1x1', '1x1 '])
    expect(pixelsOf(other)).toBeUndefined()
})

const RATIOS = ['16:9', '9:16', '1:1', '4:3']

test('the nearest ratio has the nearest shape', () => {
  expect(['1280x720', '720x1280', '500x512', '4:3', '8:6'].map(one => nearestRatio(one, RATIOS))).toEqual([
    ...['16:9', '9:16', '1:1', '4:3', '4:3'],
  ])
  for (const other of ['auto', '0:1', '1:0', '123456:1', 'a16:9']) expect(nearestRatio(other, RATIOS)).toBeUndefined()
  expect(nearestRatio('1:1', [])).toBeUndefined()
})

test('no other ratio is nearer, by the factor between the shapes', () => {
  const shapeOf = (ratio: string): number => {
    const [width, height] = ratio.split(':').map(Number)
    return width! / height!
  }
  const side = fc.integer({ min: 1, max: 9999 })
  holds(fc.tuple(side, side), ([width, height]) => {
    const factor = (ratio: string) => Math.max(width / height / shapeOf(ratio), shapeOf(ratio) / (width / height))
    const nearest = factor(nearestRatio(`${width}x${height}`, RATIOS)!)
    for (const ratio of RATIOS) expect(nearest).toBeLessThanOrEqual(factor(ratio) * (1 + 1e-9))
  })
})

test('the nearest size is that of a ratio, not of a size', () => {
  const sizes = ['1280x720', '720x1280', '1024x1024']
  expect(['16:9', '2:3', '1:1'].map(ratio => nearestSize(ratio, sizes))).toEqual(['1280x720', '720x1280', '1024x1024'])
  expect([nearestSize('1280x720', sizes), nearestSize('auto', sizes)]).toEqual([undefined, undefined])
})
