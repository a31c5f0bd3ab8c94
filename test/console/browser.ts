import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Config } from '../../src/config/index.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { browser } from './chromium.ts'
import { type ConsoleGateway, openConsoleGateway } from './gateway.ts'
import { signInto } from './sign-in.ts'

export { noChromium } from './chromium.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const NOTICE = `document.addEventListener('securitypolicyviolation', event =>
  noteViolation('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

/** Retries a failed test, because a busy machine may render too late. */
export const IN_BROWSER = { retry: { count: 4, delay: 500 } }

/** Viewports of wide and narrow screens. */
export const WIDTHS = [1280, 390] as const
export const THEMES = ['light', 'dark'] as const

export interface VisitOptions {
  readonly theme?: (typeof THEMES)[number]
  readonly width?: number
  readonly language?: 'en' | 'zh'
  /** Role of the signed-in user. Null to stay signed out. */
  readonly role?: 'admin' | 'viewer' | null
  /** Gateway of another visit, to share it. */
  readonly gateway?: ConsoleGateway
  readonly config?: Partial<Config>
  /** Parts of expected messages in the browser's console, mostly of refused requests. */
  readonly expected?: readonly RegExp[]
}

/** A console page in its own browser context, with its gateway. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly gateway: ConsoleGateway
  /** Opens a console page by its path below `/console` and waits until loading has ended. */
  goTo(path: string): Promise<void>
  /** Rejects if axe-core finds a serious or critical problem. */
  axe(): Promise<void>
}

/**
 * Opens pages for the tests of one file. After each test the pages are closed, last first. The test fails if a page
 * logged an error, threw, or violated the content security policy.
 */
export function visitor(): (path: string, options?: VisitOptions) => Promise<Visit> {
  const closing = closingAfterEach()
  return async (path, options = {}) => {
    const gateway = options.gateway ?? (await openConsoleGateway(options.config))
    if (options.gateway === undefined) closing.push(() => gateway.close())
    const visit = await open(gateway, options)
    closing.push(visit.close)
    await visit.goTo(path)
    return visit
  }
}

/** Opens a page outside a test. `close` rejects with the faults of the page. */
export async function open(
  gateway: ConsoleGateway,
  options: VisitOptions = {},
): Promise<Visit & { close(): Promise<void> }> {
  const { theme = 'light', width = 1280, language = 'en', role = 'admin', expected = [] } = options
  const context = await (await browser()).newContext({
    baseURL: gateway.address,
    viewport: { width, height: width < 600 ? 844 : 860 },
    colorScheme: theme,
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const faults: string[] = []
  const note = (text: string): void => {
    if (!expected.some(one => one.test(text))) faults.push(text)
  }
  // Some policy violations are reported only as an event of the document.
  await context.exposeFunction('noteViolation', note)
  await context.addInitScript(NOTICE)
  if (role !== null) await signInto(context, gateway, role)
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  page.on('pageerror', fault => note(`thrown: ${fault.stack ?? fault.message}`))
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') note(`${message.type()}: ${message.text()}`)
  })
  page.on('requestfailed', one => {
    // The page aborts requests it no longer needs.
    if (one.failure()?.errorText !== 'net::ERR_ABORTED') note(`failed: ${one.url()} ${one.failure()?.errorText}`)
  })
  return {
    ...{ page, context, gateway },
    goTo: async path => {
      await page.goto(`/console${path}`)
      await page.locator('h1').first().waitFor()
      await settled(page)
    },
    axe: () => checkAxe(page),
    close: async () => {
      await context.close()
      expect(faults).toEqual([])
    },
  }
}

/** Waits until no element of the page is loading. */
export const settled = (page: Page): Promise<void> =>
  page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' })

interface Violation {
  readonly id: string
  readonly impact: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

async function checkAxe(page: Page): Promise<void> {
  await settled(page)
  // The debugger evaluates this, so the page's policy does not apply.
  await page.evaluate(AXE)
  const run = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"
  const violations = await page.evaluate<readonly Violation[]>(run)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  expect(
    serious.map(({ id, nodes }) => ({ id, nodes: nodes.map(one => `${one.html}\n${one.failureSummary}`) })),
  ).toEqual([])
}
