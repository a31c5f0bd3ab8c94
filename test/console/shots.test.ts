import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { openBroken } from './broken.ts'
import { noChromium, open, settled, THEMES, WIDTHS } from './browser.ts'
import { type ConsoleGateway, openConsoleGateway } from './gateway.ts'
import { furnish } from './scenery.ts'
import { captureSome } from './traffic-shots.ts'
import { openBeforeVendors } from './vendors.ts'

const FOLDER = join(import.meta.dirname, '../../console/shots')

interface Shot {
  readonly name: string
  readonly path: string
  /** Actions before the screenshot. */
  readonly act?: (page: Page) => Promise<unknown>
  /** Takes the full page instead of the viewport. */
  readonly whole?: boolean
  readonly role?: 'admin' | 'viewer' | null
  /** Setup of the gateway. By default the built-in upstream and a month of usage. */
  readonly scene?: keyof typeof SCENES
  /** Takes the screenshot in Chinese, in one theme and width only, to check that texts fit. */
  readonly language?: 'zh'
}

/** Opens the first row of a list. */
const openFirst = async (page: Page): Promise<void> => {
  await page.locator('tbody tr a').first().click()
  await page.locator('.capture-view').waitFor()
}
/** Setups of a gateway. */
const SCENES = {
  usage: async () => {
    const gateway = await openConsoleGateway()
    await furnish(gateway)
    await captureSome(gateway)
    return gateway
  },
  vendors: openBeforeVendors,
  /** A new installation with its first requests. */
  fresh: async () => {
    const gateway = await openConsoleGateway()
    await captureSome(gateway)
    return gateway
  },
  broken: () => openBroken({ isFurnished: true }),
} as const

/** Pictures in docs: light and wide. */
const PICTURES: readonly Shot[] = [
  { name: 'console-start', path: '/start?client=claude-code&model=claude-opus-4-8', scene: 'vendors' },
  { name: 'console-traffic', path: '/traffic?only=losses&model=replay-chat-hello', act: showLoss },
  { name: 'console-translator', path: '/translator', act: messagesToChat },
  { name: 'console-usage', path: '/usage?range=24h' },
]

/** One row per screenshot. */
const SHOTS: readonly Shot[] = [
  { name: 'sign-in', path: '/', role: null },
  { name: 'help', path: '/start', act: page => page.keyboard.press('?') },
  { name: 'overview', path: '/', scene: 'broken', whole: true },
  { name: 'overview-well', path: '/', whole: true },
  { name: 'traffic-errors', path: '/traffic?only=errors', scene: 'broken' },
  { name: 'channels-failing', path: '/channels?channel=wrong-certificate', scene: 'broken' },
  { name: 'keys', path: '/keys' },
  { name: 'models', path: '/models', scene: 'vendors' },
  { name: 'models-panel', path: '/models?model=claude-opus-4-8', scene: 'vendors' },
  { name: 'models-filter', path: '/models?ability=converse&channel=openai', scene: 'vendors' },
  { name: 'models-replay', path: '/models' },
  { name: 'channels', path: '/channels', scene: 'vendors' },
  { name: 'channels-panel', path: '/channels?channel=anthropic', scene: 'vendors' },
  { name: 'channels-errors', path: '/channels?channel=deepseek&view=errors', scene: 'vendors' },
  { name: 'channels-formats', path: '/channels?channel=deepseek&view=formats', scene: 'vendors' },
  {
    ...{ name: 'channels-test', path: '/channels', scene: 'vendors' },
    act: async page => {
      await page.getByRole('button', { name: 'Open openai' }).click()
      await page.getByRole('button', { name: 'Test', exact: true }).last().click()
      await page.getByRole('button', { name: 'Send test' }).click()
      await page.getByText('Answered').waitFor()
    },
  },
  {
    ...{ name: 'channels-drain', path: '/channels?channel=openai', scene: 'vendors' },
    act: async page => {
      await page.getByRole('button', { name: 'Drain' }).click()
      await page.getByText('no other available channel').waitFor()
    },
  },
  { name: 'channels-add', path: '/channels', scene: 'vendors', act: addChannel },
  {
    ...{ name: 'models-settings', path: '/models?model=gpt-4o', scene: 'vendors' },
    act: page => page.getByRole('dialog').getByRole('button', { name: 'Settings' }).click(),
  },
  {
    ...{ name: 'traffic-conformance', path: '/traffic?only=losses&model=replay-chat-hello' },
    act: async page => {
      await openFirst(page)
      await page.getByRole('button', { name: 'Open in conformance' }).click()
    },
  },
  { name: 'usage-money', path: '/usage?range=30d&show=cost&by=key', whole: true },
  { name: 'usage-new', path: '/usage', scene: 'fresh' },
  { name: 'translator-empty', path: '/translator' },
  { name: 'translator', path: '/translator', act: page => begin(page, /Messages/) },
  { name: 'translator-stream', path: '/translator', act: page => begin(page, /Responses/) },
  { name: 'translator-one', path: '/translator', act: chat },
  {
    name: 'translator-examples',
    path: '/translator',
    act: page => page.getByRole('button', { name: 'Examples' }).first().click(),
  },
  { name: 'keys-form', path: '/keys', act: page => page.keyboard.press('n') },
  {
    ...{ name: 'keys-panel', path: '/keys' },
    act: page => page.getByRole('button', { name: 'Open nightly-evals' }).click(),
  },
  {
    ...{ name: 'keys-secret', path: '/keys' },
    act: async page => {
      await page.getByRole('button', { name: 'Actions for playground' }).click()
      await page.getByRole('menuitem', { name: 'Rotate' }).click()
      await page.getByRole('button', { name: 'Rotate', exact: true }).click()
      await page.getByText('has a new secret').waitFor()
    },
  },
  {
    ...{ name: 'keys-menu', path: '/keys' },
    act: page => page.getByRole('button', { name: 'Actions for codex-ci' }).click(),
  },
  { name: 'groups', path: '/keys?view=groups' },
  { name: 'traffic', path: '/traffic' },
  { name: 'traffic-request', path: '/traffic?only=losses&model=replay-chat-hello', act: openFirst },
  { name: 'traffic-whole', path: '/traffic?only=losses&model=replay-chat-hello', act: openFirst, whole: true },
  {
    ...{ name: 'traffic-views', path: '/traffic?only=losses&model=replay-chat-hello' },
    act: showLoss,
  },
  { name: 'account', path: '/account' },
  { name: 'audit', path: '/audit' },
  { name: 'usage-pivot', path: '/usage?range=30d&show=cost&by=nothing', whole: true },
  { name: 'start', path: '/start?client=claude-code&model=replay', whole: true },
  { name: 'start-made', path: '/start?client=codex&model=replay', act: makeKey, whole: true },
  { name: 'start-library', path: '/start?client=langchain&model=replay', whole: true },
  { name: 'start-tried', path: '/start?client=ai-sdk&model=replay', act: tryIt, whole: true },
  { name: 'usage', path: '/usage?range=7d', act: page => page.mouse.move(560, 480) },
  { name: 'usage-tokens', path: '/usage?range=30d&show=tokens&by=nothing' },
  { name: 'usage-latency', path: '/usage?range=30d&show=duration&by=channel' },
  { name: 'usage-hour', path: '/usage?range=1h&show=cost&by=key&chart=lines' },
  { name: 'usage-requests', path: '/usage?range=7d&show=errors&list=1' },
  { name: 'usage-filter', path: '/usage?range=7d&channel=openai', act: page => page.keyboard.press('f') },
  { name: 'usage-table', path: '/usage?range=7d', act: page => page.getByText('By model').scrollIntoViewIfNeeded() },
  { name: 'usage-empty', path: '/usage?range=7d&model=none-such' },
  ...['overview', 'start', 'models', 'keys', 'usage', 'traffic', 'translator', 'channels', 'audit', 'account'].map(
    (page): Shot => ({ name: `zh-${page}`, path: `/${page}`, language: 'zh' }),
  ),
]

/** Fills in the form of a channel and tests it. */
async function addChannel(page: Page): Promise<void> {
  await page.keyboard.press('n')
  const form = page.getByRole('dialog')
  await form.getByRole('combobox').first().fill('bedrock')
  await page.keyboard.press('Enter')
  await form.getByLabel('Models', { exact: true }).fill('claude-* ')
}

async function makeKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New key' }).click()
  // Each screenshot creates another one.
  await page.getByRole('dialog').getByLabel('Name').fill(`laptop-${Date.now()}`)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Hide' }).waitFor()
}

async function tryIt(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByText('Done', { exact: true }).waitFor()
}

/** Opens one of the translator's examples. */
async function begin(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('main').getByRole('button', { name }).first().click()
  await page.getByRole('tab', { name: 'All', exact: true }).waitFor()
}

async function chat(page: Page): Promise<void> {
  await begin(page, /Chat/)
  await page.getByRole('tab', { name: /^Messages/ }).click()
  await page.locator('.losses button').nth(1).focus()
}

/** Opens a captured request and shows one of its losses. */
async function showLoss(page: Page): Promise<void> {
  await openFirst(page)
  await page.getByRole('button', { name: '/top_k' }).click()
}

async function messagesToChat(page: Page): Promise<void> {
  await begin(page, /Messages/)
  await page.getByRole('tab', { name: /^Chat/ }).click()
}

/** Takes screenshots: `npm run console:shots`, or `npm run console:shots -- -t keys` for one page. */
describe.runIf(process.env['SHOTS'] !== undefined && noChromium === undefined)('shots', () => {
  const gateways = new Map<keyof typeof SCENES, ConsoleGateway>()
  const gatewayOf = async (scene: keyof typeof SCENES): Promise<ConsoleGateway> => {
    const gateway = gateways.get(scene) ?? (await SCENES[scene]())
    gateways.set(scene, gateway)
    return gateway
  }
  beforeAll(() => void mkdirSync(FOLDER, { recursive: true }))
  afterAll(async () => {
    for (const gateway of gateways.values()) await gateway.close()
  })

  for (const { name, path, act, scene = 'usage' } of PICTURES)
    test(`docs/${name}.png`, async () => {
      const visit = await open(await gatewayOf(scene), { expected: [/401/] })
      await visit.goTo(path)
      await act?.(visit.page)
      await settled(visit.page)
      await visit.page.screenshot({ path: join(FOLDER, '../../docs', `${name}.png`) })
      await visit.close()
    })

  for (const { name, path, act, whole = false, role = 'admin', scene = 'usage', language } of SHOTS)
    test(name, async () => {
      const gateway = await gatewayOf(scene)
      for (const theme of language ? THEMES.slice(0, 1) : THEMES)
        for (const width of language ? WIDTHS.slice(0, 1) : WIDTHS) {
          const visit = await open(gateway, { theme, width, role, language: language ?? 'en', expected: [/401/] })
          await visit.goTo(path)
          await act?.(visit.page)
          await settled(visit.page)
          await visit.page.screenshot({ path: join(FOLDER, `${name}-${theme}-${width}.png`), fullPage: whole })
          await visit.close()
        }
    })
})
