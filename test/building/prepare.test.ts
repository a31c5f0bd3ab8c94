import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'prepare é '))
  for (const folder of ['building', 'console/building']) mkdirSync(join(root, folder), { recursive: true })
  copyFileSync('building/prepare.js', join(root, 'building/prepare.js'))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  writeFileSync(join(root, 'console/building/build.ts'), 'export const buildIfStale = async () => {}')
})
afterEach(() => rmSync(root, { recursive: true }))

const WORKING = "export const bundleIfStale = async () => console.log('bundled')"

function prepare(bundling: string) {
  writeFileSync(join(root, 'building/bundle.ts'), bundling)
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'building/prepare.js')], { encoding: 'utf8' })
  return { status, stdout }
}

test('what can be built is built', () => {
  expect(prepare(WORKING)).toEqual({ status: 0, stdout: 'bundled\n' })
})

test.each([
  ['fails', "export const bundleIfStale = async () => { throw new Error('no space') }", 'no space'],
  ['cannot be loaded', "import './nothing.ts'", 'nothing.ts'],
  ['ends its process', 'process.exit(7)', 'its build ended with 7'],
  ['is killed', "process.kill(process.pid, 'SIGKILL')", 'its build ended with SIGKILL'],
])('a build that %s does not fail the install', (_, bundling, why) => {
  const { status, stdout } = prepare(bundling)
  expect(status).toBe(0)
  expect(stdout).toContain('The server runs from its sources')
  expect(stdout).toContain(why)
})

test('without one of them the other is built', () => {
  rmSync(join(root, 'console'), { recursive: true })
  const { status, stdout } = prepare(WORKING)
  expect(status).toBe(0)
  expect(stdout).toContain('The console is not built: ')
  expect(stdout).toContain('bundled\n')
})
