import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { noChromium, open, settled, THEMES, WIDTHS } from './browser.ts'
import { type ConsoleGateway, openConsoleGateway } from './gateway.ts'
import { furnish } from './scenery.ts'

const FOLDER = join(import.meta.dirname, '../../console/shots')

interface Shot {
  readonly name: string
  readonly path: string
  /** What is done before. */
  readonly act?: (page: Page) => Promise<unknown>
  readonly role?: 'admin' | 'viewer' | null
}

/** What is looked at, a row each. */
const SHOTS: readonly Shot[] = [
  { name: 'sign-in', path: '/', role: null },
  { name: 'help', path: '/', act: page => page.keyboard.press('?') },
  { name: 'keys', path: '/keys' },
  { name: 'usage', path: '/usage?range=7d', act: page => page.mouse.move(560, 480) },
  { name: 'usage-tokens', path: '/usage?range=30d&show=tokens&by=nothing' },
  { name: 'usage-latency', path: '/usage?range=30d&show=duration&by=channel' },
  { name: 'usage-hour', path: '/usage?range=1h&show=cost&by=key&chart=lines' },
  { name: 'usage-requests', path: '/usage?range=7d&show=errors&list=1' },
  { name: 'usage-filter', path: '/usage?range=7d&channel=openai', act: page => page.keyboard.press('f') },
  { name: 'usage-table', path: '/usage?range=7d', act: page => page.getByText('By model').scrollIntoViewIfNeeded() },
  { name: 'usage-empty', path: '/usage?range=7d&model=none-such' },
]

/** `npm run console:shots`, or `npm run console:shots -- -t keys`: pages as they look, to be looked at. */
describe.runIf(process.env['SHOTS'] !== undefined && noChromium === undefined)('shots', () => {
  let gateway: ConsoleGateway
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true })
    gateway = await openConsoleGateway()
    await furnish(gateway)
  })
  afterAll(() => gateway?.close())

  for (const { name, path, act, role = 'admin' } of SHOTS)
    test(name, async () => {
      for (const theme of THEMES)
        for (const width of WIDTHS) {
          const visit = await open(gateway, { theme, width, role, expected: [/401/] })
          await visit.goTo(path)
          await act?.(visit.page)
          await settled(visit.page)
          await visit.page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`) })
          await visit.close()
        }
    })
})
