import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { START_OPTIONS } from '../../building/start-options.ts'
import { version } from '../../src/version.ts'

const folder = mkdtempSync(join(tmpdir(), 'other-runtimes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a runtime without a cache of compiled code, such as Deno, starts the program', () => {
  const lacking = join(folder, 'lacking.cjs')
  writeFileSync(lacking, "require('node:module').enableCompileCache = undefined\n")
  const args = ['--require', lacking, 'bin/interlingua.js', '--version']
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe(version())
})

describe('the program of an installed package', () => {
  const program = join(folder, 'interlingua')
  const script = join(folder, 'package/bin/interlingua.js')

  beforeAll(() => {
    cpSync('bin', join(folder, 'package/bin'), { recursive: true })
    mkdirSync(join(folder, 'package/lib/server'), { recursive: true })
    const started = '{ options: process.execArgv, args: process.argv.slice(2), runningPid: process.pid }'
    writeFileSync(join(folder, 'package/lib/server/main.cjs'), `console.log(JSON.stringify(${started}))`)
    symlinkSync(script, program)
  })

  const start = (file: string, ...args: string[]) => {
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` }
    const { pid, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env })
    return { pid, stderr, ...(JSON.parse(stdout) as { options: string[]; args: string[]; runningPid: number }) }
  }

  test('runs with the options of `npm start`, in the process that was started', () => {
    const { pid, ...started } = start(program, 'serve', '--port', '1 2')
    expect(started).toEqual({ options: START_OPTIONS, args: ['serve', '--port', '1 2'], runningPid: pid, stderr: '' })
  })

  test('keeps the options of Node that its user gave', () => {
    expect(start(process.execPath, '--expose-gc', script, 'check').options).toEqual(['--expose-gc'])
  })
})
