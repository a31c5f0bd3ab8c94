import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { fragmentOf, linkedOf } from '../../console/src/pages/translator/permalink.ts'
import { KNOWN_FORMATS } from '../../src/kit/translate.ts'
import { IN_BROWSER, noChromium, settled, THEMES, visitor, WIDTHS } from './browser.ts'

const PATH = '/translator'
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
const ASK = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi', name: 'ann' }],
  ...{ seed: 7, logit_bias: { '1': 2 } },
}

const editor = (page: Page) => page.getByRole('textbox', { name: 'Text to translate' })
const written = (page: Page, format: string) => page.locator(`[data-format=${format}]`)

/** Types a text and waits until it is translated. */
async function give(page: Page, text: string): Promise<void> {
  const translated = page.waitForResponse(answer => answer.url().endsWith('/admin/v1/translate'))
  await editor(page).fill(text)
  await translated
  await settled(page)
}

describe.skipIf(noChromium)('the translator', IN_BROWSER, () => {
  const visit = visitor()

  test('shows a pasted text in every other format, with what is lost marked in both', async () => {
    const { page } = await visit(PATH)
    await give(page, JSON.stringify(ASK, null, 2))
    for (const format of ['responses', 'messages', 'contents']) await written(page, format).waitFor()
    await expect
      .poll(async () => JSON.parse((await written(page, 'messages').getByRole('region').textContent())!))
      .toMatchObject({ model: 'm' })
    const given = page.locator('.editor mark')
    await expect
      .poll(() => given.allInnerTexts())
      .toEqual(expect.arrayContaining(['"name": "ann"', '"seed": 7', expect.stringContaining('"logit_bias": {')]))
    // Fields added because the format requires them are marked in the translation.
    await page.getByRole('tab', { name: /^Messages/ }).click()
    await expect
      .poll(() => written(page, 'messages').locator('.wire mark').allInnerTexts())
      .toEqual(['"max_tokens": 32000'])
    await expect.poll(() => written(page, 'responses').count()).toBe(0)
    await page.getByRole('button', { name: /seed/ }).click()
    await expect.poll(() => page.locator('.editor mark.active').textContent()).toBe('"seed": 7')
  })

  test('guesses format and kind, which can be changed', async () => {
    const { page } = await visit(PATH)
    await give(page, JSON.stringify({ model: 'm', max_tokens: 5, system: 'S', messages: [], stop_sequences: ['x'] }))
    const format = page.getByLabel('Format', { exact: true })
    await expect.poll(() => format.locator('option:checked').textContent()).toBe('Detected: Messages')
    const options = await format.locator('option').all()
    const names = await Promise.all(options.map(one => one.getAttribute('value')))
    // Only formats with a reader are listed.
    expect(names.filter(Boolean).sort()).toEqual([...KNOWN_FORMATS].sort())
    const translated = page.waitForResponse(answer => answer.url().endsWith('/translate'))
    await format.selectOption('chat')
    expect((await translated).request().postDataJSON()).toMatchObject({ format: 'chat' })
    await written(page, 'messages').waitFor()
  })

  test('waits for a pause in typing, and gives up what is out of date', async () => {
    const { page } = await visit(PATH, { expected: [/400 \(Bad Request\)/] })
    let requests = 0
    let release = (): void => {}
    const held = new Promise<void>(resolve => (release = resolve))
    await page.route('**/admin/v1/translate', async route => {
      if (++requests === 1) await held
      await route.continue().catch(() => {})
    })
    const first = page.waitForEvent('requestfailed', one => one.url().endsWith('/translate'))
    await editor(page).pressSequentially('{"model": "one",', { delay: 10 })
    await page.waitForRequest('**/admin/v1/translate')
    await expect.poll(() => requests).toBeGreaterThan(0)
    // A busy machine may pause a few times while typing 16 letters, but not after most of them.
    const whileTyped = requests
    expect(whileTyped).toBeLessThan(8)
    await editor(page).fill(JSON.stringify({ ...ASK, model: 'two' }))
    expect((await first).failure()?.errorText).toBe('net::ERR_ABORTED')
    release()
    await written(page, 'messages').getByText('"two"').waitFor()
    expect(requests).toBe(whileTyped + 1)
  })

  test('says what is wrong with a text, and where', async () => {
    const { page } = await visit(PATH, { expected: [/400 \(Bad Request\)/] })
    await give(page, '{"model": "m", oops}')
    await page
      .getByRole('alert')
      .getByText(/matches no known format|not JSON/)
      .waitFor()
    await expect.poll(() => page.getByRole('tab').count()).toBe(0)
    await page.getByLabel('Format', { exact: true }).selectOption('chat')
    await page
      .getByRole('alert')
      .getByText(/The text is not JSON/)
      .waitFor()
    await expect.poll(() => page.locator('.editor mark').textContent()).toBe('o')
    await give(page, JSON.stringify(ASK))
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await written(page, 'messages').waitFor()
  })

  test('by keyboard alone: an example is chosen, its losses are gone through, one format is looked at', async () => {
    const { page } = await visit(PATH)
    await settled(page)
    await page.keyboard.press('/')
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
    await page.keyboard.press('Escape')
    await page.keyboard.press('e')
    await page.getByRole('dialog').getByText('Chat Completions').first().waitFor()
    await page.keyboard.type('messages features')
    await page.keyboard.press('Enter')
    await written(page, 'chat').waitFor()
    await settled(page)
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await page.keyboard.press('n')
    const first = await focused()
    await page.keyboard.press('n')
    expect(first).toMatch(/^(Dropped|Changed|Added|Inserted|Moved)/)
    await expect.poll(() => focused()).not.toBe(first)
    await expect.poll(() => page.locator('.editor mark.active').count()).toBeGreaterThan(0)
    await page.getByRole('tab', { name: 'All' }).focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.getByRole('tab', { selected: true }).textContent()).toMatch(/^Chat/)
    await expect.poll(() => page.locator('[data-format]').count()).toBe(1)
  })

  test('a link holds the text behind its # alone, and shows it again', async () => {
    const { page, context, gateway } = await visit(PATH)
    await give(page, JSON.stringify(ASK))
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page
      .getByRole('status')
      .getByText(/Link copied/)
      .waitFor()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(link).toMatch(new RegExp(`^${gateway.address}/console/translator#1\\.[\\w-]+$`))
    const other = await context.newPage()
    const asked: string[] = []
    other.on('request', one => void asked.push(one.url()))
    await other.goto(link)
    await written(other, 'messages').waitFor()
    await expect.poll(() => editor(other).inputValue()).toBe(JSON.stringify(ASK))
    expect(asked.filter(url => url.includes('#') || url.length > 200)).toEqual([])
  })

  test('a link holds no key, and one that would be too long is none', async () => {
    const { page, gateway } = await visit(PATH)
    const secret = 'sk-proj-a1b2c3d4e5f6a1b2c3d4e5f6'
    await give(page, JSON.stringify({ ...ASK, user: `my key is ${secret}` }))
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByRole('status').getByText('Values that look like a key').waitFor()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    const linked = await linkedOf(link.slice(link.indexOf('#')))
    expect(linked!.text).not.toContain(secret)
    expect(JSON.parse(linked!.text)).toMatchObject({ ...ASK, user: 'my key is [key]' })
    // The address of the page is the link, so that a bookmark holds no key either.
    expect(await page.evaluate<string>('location.href')).toBe(link)
    const random = Array.from({ length: 12_000 }, () => Math.random().toString(36).slice(2, 9)).join(' ')
    await give(page, JSON.stringify({ ...ASK, user: random }))
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText(/The link would .*\d+\.\d kB.* at most 60 kB/).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(link)
    expect(gateway.address).toBe(new URL(link).origin)
  })

  test('a damaged link says so, and one with hostile text is text', async () => {
    const { page } = await visit(`${PATH}#1.AAAA`, { expected: [/400 \(Bad Request\)/] })
    await page.getByText('The link is damaged: it contains no text.').waitFor()
    const text = JSON.stringify({ ...ASK, [HOSTILE]: HOSTILE, model: HOSTILE })
    const fragment = await fragmentOf({ text, format: HOSTILE, kind: 'request' })
    const refused = page.waitForResponse('**/admin/v1/translate')
    await page.evaluate(`location.hash = '${fragment}'`)
    expect((await refused).status()).toBe(400)
    await expect.poll(() => page.title()).toBe('Translator · Interlingua')
  })

  test('shows hostile text as text, in requests, answers, streams, names and faults', async () => {
    const { page } = await visit(PATH, { expected: [/400 \(Bad Request\)/] })
    const part = { [HOSTILE]: HOSTILE, model: HOSTILE }
    const texts = [
      JSON.stringify({ ...ASK, ...part, messages: [{ role: 'user', content: HOSTILE, [HOSTILE]: 1 }] }),
      JSON.stringify({
        ...part,
        id: HOSTILE,
        choices: [{ index: 0, message: { role: 'assistant', content: HOSTILE } }],
      }),
      `event: ${HOSTILE}\ndata: ${JSON.stringify({ ...part, choices: [{ index: 0, delta: { content: HOSTILE } }] })}\n\n`,
      `{"model": ${HOSTILE}`,
    ]
    for (const text of texts) {
      await give(page, text)
      await expect.poll(() => page.locator('main img, main script').count()).toBe(0)
      await expect.poll(() => page.title()).toBe('Translator · Interlingua')
    }
  })

  test('viewers may use it', async () => {
    const { page } = await visit(PATH, { role: 'viewer' })
    await give(page, JSON.stringify(ASK))
    await written(page, 'messages').waitFor()
  })

  test('is in Chinese, too', async () => {
    const { page } = await visit(PATH, { language: 'zh' })
    await page
      .getByRole('button', { name: /Messages/ })
      .first()
      .click()
    await page
      .getByText(/^丢弃 \d+ 处$/)
      .first()
      .waitFor()
  })

  for (const theme of THEMES)
    for (const width of WIDTHS)
      test(`has no fault for screen readers, and fits: ${theme}, ${width}`, async () => {
        const { page, axe } = await visit(PATH, { theme, width })
        await axe()
        for (const name of [/^Messages/, /^Responses/]) {
          await page.reload()
          await page.getByRole('main').getByRole('button', { name }).first().click()
          await page.getByRole('tab', { name: 'All', exact: true }).waitFor()
          await axe()
          const fits = await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')
          expect(fits).toBe(true)
        }
        await page.getByRole('button', { name: 'Examples' }).first().click()
        await page.getByRole('dialog').getByRole('heading', { level: 3 }).first().waitFor()
        await axe()
      })
})
