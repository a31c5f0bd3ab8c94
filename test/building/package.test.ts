import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportsOf, packageManifest } from '../../building/package/manifest.ts'

const ROOT = join(import.meta.dirname, '../..')
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

test('package.json exports what the package is built of', () => {
  expect(MANIFEST.exports).toEqual(exportsOf())
})

test('the manifest of the package lists only the packages that its files import', () => {
  const { dependencies, devDependencies, scripts } = packageManifest(MANIFEST, ['ws', 'valibot'], false)
  expect(dependencies).toEqual({ ws: MANIFEST.dependencies.ws, valibot: MANIFEST.dependencies.valibot })
  expect([devDependencies, scripts]).toEqual([undefined, undefined])
  expect(() => packageManifest(MANIFEST, ['unknown'], false)).toThrow('unknown must be among the dependencies')
})
