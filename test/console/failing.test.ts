import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { IN_BROWSER, noChromium, settled, visitor } from './browser.ts'

/* Each page that loads something while a proxy before the gateway answers its requests. */

const PATHS = ['/overview', '/traffic', '/usage', '/audit', '/channels', '/models', '/keys', '/start']

type Failing = Parameters<Parameters<Page['route']>[1]>[0]

const HTML = '<!doctype html><title>Sign in to the network</title>'
/** Answers in place of the gateway's, and the text of the page. */
const FAILURES: { readonly [kind: string]: readonly [(route: Failing) => Promise<void>, RegExp] } = {
  'a page of a portal': [route => route.fulfill({ contentType: 'text/html', body: HTML }), /cannot be reached/],
  'an error of another program': [
    route => route.fulfill({ status: 502, json: { type: 5, title: {}, detail: ['x'], errors: { a: 1 } } }),
    /HTTP 502/,
  ],
}

describe.skipIf(noChromium)('every page', IN_BROWSER, () => {
  const visit = visitor()

  test.each(Object.keys(FAILURES))('names %s instead of its contents', async kind => {
    const [answer, said] = FAILURES[kind]!
    const { page } = await visit('/account', { expected: [/Failed to load resource/] })
    await page.route('**/admin/v1/**', route =>
      route.request().url().endsWith('/session') ? route.continue() : answer(route),
    )
    const silent: string[] = []
    for (const path of [...PATHS, '/account']) {
      await page.goto(`/console${path}`)
      await page.locator('h1').first().waitFor()
      await settled(page)
      const text = await page.locator('main').innerText()
      if (!said.test(text)) silent.push(`${path}: ${text.slice(0, 200)}`)
    }
    expect(silent).toEqual([])
  })
})
