import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CALLER_FORMATS, FORMAT_FACTS } from '../../src/formats/index.ts'
import { RELEASES } from '../../src/formats/releases.ts'

test.each(Object.entries(RELEASES))('the release of %s is the installed one', (format, { package: name, version }) => {
  expect(CALLER_FORMATS.has(format) || FORMAT_FACTS.has(format)).toBe(true)
  const installed = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }
  expect(version).toBe(installed.version)
})
