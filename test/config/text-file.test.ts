import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/file.ts'

const text = (name: string): string =>
  `# é\nchannels: [{ name: ${name}, provider: custom, formats: [chat], base_url: "http://localhost/v1", key: none }]\n`

function load(bytes: Buffer) {
  const path = join(mkdtempSync(join(tmpdir(), 'encoding-')), 'interlingua.yaml')
  writeFileSync(path, bytes)
  return loadConfig(path, {}).channels.map(({ name }) => name)
}

describe('a config file', () => {
  const utf16 = Buffer.from(`\uFEFF${text('café')}`, 'utf16le')

  test.each([
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${text('café')}`)],
    ['UTF-16, as PowerShell writes it', utf16],
    ['UTF-16 in the other byte order', Buffer.from(utf16).swap16()],
  ])('may be in %s', (_, bytes) => {
    expect(load(bytes)).toEqual(['café'])
  })

  test('in another encoding is refused with its line, because its letters would be lost', () => {
    const bytes = Buffer.concat([Buffer.from('# a\n'), Buffer.from(text('café'), 'latin1')])
    expect(() => load(bytes)).toThrow('cannot be read: line 2 is not in UTF-8: save the file in this encoding')
  })
})
