import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ConfigWatch, watchConfig } from '../../src/config/file.ts'
import type { Config } from '../../src/config/index.ts'
import { SOON, TIMED } from '../builders/time.ts'

const text = (name: string): string =>
  `channels: [{ name: ${name}, provider: custom, formats: [chat], base_url: "http://localhost/v1", key: none }]\n`

let dir: string
let path: string
let taken: string[]
let faults: string[]
let following: ConfigWatch | undefined
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reload-'))
  path = join(dir, 'interlingua.yaml')
  writeFileSync(path, text('first'))
  taken = []
  faults = []
})
afterEach(() => {
  following?.close()
  rmSync(dir, { recursive: true })
})

function follow(): ConfigWatch {
  const name = ({ channels: [channel] }: Config): string => channel?.name ?? 'none'
  following = watchConfig(
    path,
    config => taken.push(name(config)),
    fault => faults.push(fault.message),
    {},
  )
  return following
}

const settled = () => new Promise(resolve => setTimeout(resolve, 900))
const takes = (...names: string[]) => vi.waitFor(() => expect(taken).toEqual(names), SOON)

describe('a file that says nothing keeps the config in use, with one word about it', () => {
  it.each([
    ['nothing', ''],
    ['space', ' \n\t\n\n'],
    ['comments', '# all of it\n# commented out\n'],
    ['a mark of the encoding', '\uFEFF'],
    ['the start of a document', '---\n'],
    ['keys with nothing behind them', 'server:\ngroups:\nchannels:\n#  - { name: a }\n'],
    ['null', 'null\n'],
    ['an empty map', '{}'],
  ])('%s', (_, empty) => {
    const { reload } = follow()
    writeFileSync(path, empty)
    reload()
    expect(taken).toEqual([])
    expect(faults).toEqual([`${path}: is empty`])
    writeFileSync(path, text('second'))
    reload()
    expect(taken).toEqual(['second'])
  })

  it.each([
    ['a list that is not closed', 'channels: [{ name: a, provider: '],
    ['a word', 'chan'],
    ['a field that has no value yet', 'channels:\n  - name: a\n    provider:\n'],
    ['zeros', '\0\0\0\0'],
  ])('half of a file: %s', (_, half) => {
    const { reload } = follow()
    writeFileSync(path, half)
    reload()
    expect(taken).toEqual([])
    expect(faults).toHaveLength(1)
  })
})

describe('a file that changes', TIMED, () => {
  it('is read once it stands still: what an editor empties and writes is one change', async () => {
    follow()
    for (const round of [1, 2, 3]) {
      writeFileSync(path, '')
      await new Promise(resolve => setTimeout(resolve, 20))
      writeFileSync(path, 'channels: [')
      await new Promise(resolve => setTimeout(resolve, 20))
      writeFileSync(path, text(`round-${round}`))
    }
    await takes('round-3')
    await settled()
    expect(taken).toEqual(['round-3'])
    expect(faults).toEqual([])
  })

  it('may stay empty, or half, or away for long: what comes behind is taken', async () => {
    follow()
    writeFileSync(path, '')
    await vi.waitFor(() => expect(faults).toEqual([`${path}: is empty`]), SOON)
    writeFileSync(path, text('second'))
    await takes('second')
    unlinkSync(path)
    await vi.waitFor(() => expect(faults[1]).toBe(`${path}: cannot be read: ENOENT`), SOON)
    writeFileSync(path, text('third'))
    await takes('second', 'third')
  })

  it('may be replaced by another, with nobody noticing that it was away', async () => {
    follow()
    for (const name of ['second', 'third']) {
      writeFileSync(`${path}.new`, text(name))
      unlinkSync(path)
      await new Promise(resolve => setTimeout(resolve, 10))
      renameSync(`${path}.new`, path)
      await vi.waitFor(() => expect(taken.at(-1)).toBe(name), SOON)
    }
    expect(faults).toEqual([])
  })

  it('may have the same size and time as before', async () => {
    follow()
    const then = new Date(1_700_000_000_000)
    utimesSync(path, then, then)
    await takes('first')
    writeFileSync(path, text('other'))
    utimesSync(path, then, then)
    await takes('first', 'other')
  })

  it('may be a link into a folder that is a link, as Kubernetes mounts a config map', async () => {
    const publish = (version: string): void => {
      mkdirSync(join(dir, version))
      writeFileSync(join(dir, version, 'interlingua.yaml'), text(version))
      symlinkSync(version, join(dir, '..data_tmp'))
      renameSync(join(dir, '..data_tmp'), join(dir, '..data'))
    }
    publish('v1')
    unlinkSync(path)
    symlinkSync(join('..data', 'interlingua.yaml'), path)
    follow()
    publish('v2')
    rmSync(join(dir, 'v1'), { recursive: true })
    await takes('v2')
    publish('v3')
    await takes('v2', 'v3')
    expect(faults).toEqual([])
  })
})
