import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browser, noChromium } from '../console/chromium.ts'

/* The built site, from a server of files on this machine: search and links work without any other host. */

const SITE = join(import.meta.dirname, '../../lib/site')
const isBuilt = existsSync(join(SITE, 'index.html'))
if (!isBuilt) console.warn('Tests of the site are SKIPPED: it is not built (npm run docs:site)')

const TYPES: { readonly [extension: string]: string } = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' },
  ...{ '.png': 'image/png', '.woff2': 'font/woff2', '.json': 'application/json' },
}

/** How Chromium names a request that the browser itself gave up, such as a prefetch when the page changes. */
const ABORTED = 'net::ERR_ABORTED'

function fileServer(): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://site')
    const file = join(SITE, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    if (!file.startsWith(SITE) || !existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  })
}

describe.skipIf(!isBuilt || noChromium !== undefined)('the built site', () => {
  const server = fileServer()
  const faults: string[] = []
  let page: Page
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const context = await (await browser()).newContext({
      baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    })
    page = await context.newPage()
    page.on('pageerror', fault => faults.push(fault.message))
    page.on('requestfailed', one => {
      if (one.failure()?.errorText !== ABORTED) faults.push(`${one.failure()?.errorText} ${one.url()}`)
    })
    page.on('response', one => {
      if (one.status() >= 400) faults.push(`${one.status()} ${one.url()}`)
    })
  })
  afterAll(async () => {
    await page.context().close()
    server.close()
  })

  /** Searches from the first page, opens a result of the page with this address, and returns the page's heading. */
  async function found(text: string, path: RegExp): Promise<string> {
    await page.goto('/')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.locator('.VPLocalSearchBox input').fill(text)
    const results = page.locator('.VPLocalSearchBox a.result')
    await results.first().waitFor()
    const links = await results.evaluateAll(all => all.map(one => one.getAttribute('href') ?? ''))
    expect(links).toEqual(expect.arrayContaining([expect.stringMatching(path)]))
    await results.nth(links.findIndex(link => path.test(link))).click()
    await page.waitForURL(path)
    return (await page.locator('h1').textContent())!
  }

  test('search finds a header in the pages that explain it', async () => {
    expect(await found('retry-after', /\/docs\/(guides\/troubleshooting|keys-and-limits)/)).toMatch(
      /Troubleshooting|Keys/,
    )
  })

  test('search finds the page of a provider and of a client', async () => {
    expect(await found('deepseek', /\/docs\/providers\/deepseek/)).toContain('DeepSeek')
    expect(await found('opencode', /\/docs\/clients\/opencode/)).toContain('opencode')
  })

  test('the reference of the library is a part of it', async () => {
    await page.goto('/')
    await page.getByRole('link', { name: 'Library', exact: true }).first().click()
    await page.waitForURL(/\/reference\/index\.html$/)
    expect(await page.title()).toContain('interlingua')
  })

  test('no file is missing, and no script fails', () => expect(faults).toEqual([]))
})
