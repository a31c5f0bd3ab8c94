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

/** A page is drawn when the machine has time for it: who looked too early looks again. */
export const IN_BROWSER = { retry: { count: 4, delay: 500 } }

/** Wide and narrow screens. */
export const WIDTHS = [1280, 390] as const
export const THEMES = ['light', 'dark'] as const

export interface VisitOptions {
  readonly theme?: (typeof THEMES)[number]
  readonly width?: number
  readonly language?: 'en' | 'zh'
  /** Who is signed in; nobody with null. */
  readonly role?: 'admin' | 'viewer' | null
  /** Another visitor's gateway. */
  readonly gateway?: ConsoleGateway
  readonly config?: Partial<Config>
  /** Parts of messages of the browser's console that are meant: those of refused requests, mostly. */
  readonly expected?: readonly RegExp[]
}

/** A page of the console in a browser of its own, and the gateway it is of. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  readonly gateway: ConsoleGateway
  /** Goes to a page of the console, by its path below `/console`, and waits until nothing is loaded any more. */
  goTo(path: string): Promise<void>
  /** Rejects where axe-core finds anything serious or critical. */
  axe(): Promise<void>
}

/**
 * Opens pages for the tests of one file. After each test they are closed, the last first, and the test fails where a
 * page logged an error, threw, or broke the content security policy.
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

/** The same without a test around it; `close` rejects with the faults of the page. */
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
  // What breaks the policy is an event of the document, and for some directives nothing else.
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
    // The page itself aborts what it does not need any more.
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

/** Waits until nothing on the page is being loaded. */
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
  // Evaluated by the debugger, which the page's policy does not concern.
  await page.evaluate(AXE)
  const run = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"
  const violations = await page.evaluate<readonly Violation[]>(run)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  expect(
    serious.map(({ id, nodes }) => ({ id, nodes: nodes.map(one => `${one.html}\n${one.failureSummary}`) })),
  ).toEqual([])
}
