import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { CLIENTS } from '../../building/site/client-pages.ts'
import { PAGES } from '../../building/site/pages.ts'
import { exampleChannel } from '../../building/site/provider-pages.ts'
import { SITE_ONLY } from '../../building/site/sidebar.ts'
import { readConfig } from '../../src/config/read.ts'
import { warnings } from '../../src/config/warnings.ts'
import { PRESETS } from '../../src/formats/index.ts'

/* Pages that only the site has: each client's and each provider's. */

test('the menu has every page, and no other', () => {
  const links = SITE_ONLY.flatMap(({ items }) => items.map(({ link }) => link.replace('/docs/', '')))
  expect(links.sort()).toEqual([...PAGES.keys()].sort())
  expect(PAGES.size).toBe(PRESETS.size + CLIENTS.length)
})

describe('the example of a provider is a valid config, without warnings', () => {
  test.each([...PRESETS])('%s', (name, preset) => {
    const yaml = stringify({ channels: [exampleChannel(preset)] })
    const env = Object.fromEntries(preset.env.map(variable => [variable, 'a-key']))
    const config = readConfig(yaml, env)
    expect(config.channels.map(({ provider }) => provider)).toEqual([name])
    expect([...warnings(config)]).toEqual([])
    expect(PAGES.get(`providers/${name}`)).toContain(yaml)
  })
})

test('the page of a provider names its formats with their addresses, and its flags', () => {
  const page = PAGES.get('providers/deepseek')!
  expect(page).toContain('| messages | `https://api.deepseek.com/anthropic` | `x-api-key` |')
  expect(page).toContain('| chat | `reasoning_field` | `"reasoning_content"` |')
  for (const preset of PRESETS.values())
    for (const { format, dialect = {} } of preset.formats)
      for (const flag of Object.keys(dialect))
        expect(PAGES.get(`providers/${preset.name}`)).toMatch(
          new RegExp(`\\| ${format} \\| \`${flag}\` \\| .* \\| \\S`),
        )
})

test('the page of a client names a version of each package that its tests run', () => {
  for (const { id } of CLIENTS)
    expect(PAGES.get(`clients/${id}`)).toMatch(id === 'curl' ? /^# curl/ : /run in the tests with \S+ v?\d+\.\d+/)
})
