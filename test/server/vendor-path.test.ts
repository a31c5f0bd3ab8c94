import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import type { Gateway } from '../../src/gateway/index.ts'
import { appOf } from '../../src/server/app.ts'

/** Returns the first segments of all paths of the gateway except the vendor's. Parameters are left out. */
function firstSegments(): ReadonlySet<string> {
  const vendor = 'video-vendor-of-the-test'
  const app = appOf({} as Gateway, new Map(), vendor)
  const routes = (app.router.stack as readonly { readonly route?: { readonly path: string | readonly string[] } }[])
    .flatMap(({ route }) => route?.path ?? [])
    .map(path => path.split('/')[1]!)
  // Routers below a path, such as that of the admin API, do not show it.
  return new Set(
    [...routes, 'admin'].filter(segment => segment !== '' && segment !== vendor && !segment.startsWith('*')),
  )
}

const withVendorPath = (path: string) => readConfig(`tasks: { vendor_path: ${path} }`, {})

test('no path of the video vendor takes the place of another endpoint', () => {
  const segments = [...firstSegments()]
  expect(segments).toEqual(expect.arrayContaining(['v1', 'console', 'admin', 'bedrock', 'metrics']))
  for (const segment of segments.flatMap(one => [one, one.toUpperCase()]))
    expect(() => withVendorPath(segment), segment).toThrow('tasks.vendor_path')
  for (const segment of ['klingai', 'consoles', 'models', 'video.vendor'])
    expect(withVendorPath(segment).tasks.vendorPath).toBe(segment)
})
