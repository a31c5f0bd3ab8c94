import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CLIENTS } from '../../../console/src/pages/start/clients/index.ts'
import { channelAt, configOf } from '../../builders/config.ts'
import { SOON } from '../../builders/time.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'
import { IN_BROWSER, noChromium, THEMES, visitor, WIDTHS } from '../browser.ts'
import { pastedFrom } from './pasted.ts'

const MODEL = '/?model=replay'

const upstreams: FakeUpstream[] = []
afterEach(async () => {
  for (const one of upstreams.splice(0)) await one.close()
})

/** A gateway whose only channel is a scripted upstream of the format messages, with the model `m`. */
async function withUpstream(script: Script) {
  const upstream = await FakeUpstream.open(script)
  upstreams.push(upstream)
  return { upstream, config: { channels: [channelAt(upstream.address, { format: 'messages' })] } }
}

const event = (data: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const BEGIN =
  event({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
const piece = (text: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const END =
  event({ type: 'content_block_stop', index: 0 }) +
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }) +
  event({ type: 'message_stop' })

/** All snippets of the chosen client. */
const textsOf = async (page: Page): Promise<string> => (await pastedFrom(page)).map(one => one.text).join('')

describe.skipIf(noChromium)('the page Start', IN_BROWSER, () => {
  const visit = visitor()

  test('a key made with the keyboard alone is in the settings of every client, and is revoked again', async () => {
    const { page, gateway } = await visit(MODEL)
    await page.keyboard.press('n')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('laptop')
    await page.keyboard.press('Enter')
    const shown = page.getByRole('region', { name: 'Secret of laptop' })
    const secret = (await shown.locator('code').textContent())!
    expect(secret).toMatch(/^il-.{20,}$/)
    expect((await gateway.admin.get('/keys?name=laptop')).json.data).toHaveLength(1)
    const tab = page.getByRole('tab', { name: 'Claude Code' })
    await tab.focus()
    for (const { name } of CLIENTS) {
      await expect.poll(() => page.getByRole('tab', { selected: true }).textContent()).toBe(name)
      for (const part of [gateway.address, secret, 'replay']) await expect.poll(() => textsOf(page)).toContain(part)
      await page.keyboard.press('ArrowDown')
    }
    // After the last tab, the focus wraps to the first.
    const copy = page.getByRole('button', { name: 'Copy Claude Code: For this terminal, Terminal' })
    await copy.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toContain(`export ANTHROPIC_BASE_URL=${gateway.address}\nexport ANTHROPIC_AUTH_TOKEN=${secret}\n`)
    const ask = () =>
      fetch(`${gateway.address}/v1/models`, { headers: { authorization: `Bearer ${secret}` } }).then(
        ({ status }) => status,
      )
    expect(await ask()).toBe(200)
    const [key] = (await gateway.admin.get('/keys?name=laptop')).json.data
    await gateway.admin.delete(`/keys/${key.id}`)
    expect(await ask()).toBe(401)
  })

  test('the secret of a key that is chosen by its name is shown nowhere', async () => {
    const { page, gateway, goTo } = await visit('/start')
    const { json } = await gateway.admin.post('/keys', { name: 'old' })
    await goTo(`${MODEL}&key=${json.id}`)
    await page.getByText('Replace YOUR_KEY in these settings with the secret of old.').waitFor()
    await page.getByText(`${json.secrets[0].prefix}…${json.secrets[0].last_four}`).waitFor()
    for (const { name } of CLIENTS) {
      await page.getByRole('tab', { name, exact: true }).click()
      await expect.poll(() => textsOf(page)).toContain('YOUR_KEY')
    }
    expect(await page.content()).not.toContain(json.secret)
  })

  test('a secret that was shown is gone when the key changes, when it is hidden, and after signing out', async () => {
    const { page } = await visit(MODEL, { expected: [/401/] })
    const make = async (name: string): Promise<string> => {
      await page.getByRole('button', { name: 'New key' }).first().click()
      await page.getByRole('dialog').getByLabel('Name').fill(name)
      await page.keyboard.press('Enter')
      return (await page
        .getByRole('region', { name: `Secret of ${name}` })
        .locator('code')
        .textContent())!
    }
    const first = await make('first')
    await page.getByRole('combobox', { name: 'Key' }).fill('dev')
    await page.keyboard.press('Enter')
    await page.getByText('with the secret of dev').waitFor()
    await expect.poll(() => page.content()).not.toContain(first)
    const second = await make('second')
    await page.getByRole('button', { name: 'Hide' }).click()
    await expect.poll(() => page.content()).not.toContain(second)
    const third = await make('third')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await expect
      .poll(() => page.evaluate<string>('document.documentElement.outerHTML + JSON.stringify(localStorage)'))
      .not.toContain(third)
  })

  test('a name that is taken is said in the dialog', async () => {
    const { page } = await visit(MODEL, { expected: [/409/] })
    await page.keyboard.press('n')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('dev')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Another key has this name.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('only models are offered that the key may call, and formats that it may use', async () => {
    const { page, gateway, goTo } = await visit('/start')
    const { json } = await gateway.admin.post('/keys', { name: 'narrow', models: ['replay'], doors: ['chat'] })
    await goTo(`/?key=${json.id}`)
    await page.getByText('This key may call 1 model').waitFor()
    await expect.poll(() => page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('replay')
    await page.getByRole('tab', { name: 'Codex' }).click()
    await page.getByText('Codex speaks Responses, but this key cannot call this model in that format.').waitFor()
    await page.getByRole('tab', { name: 'opencode' }).click()
    await expect.poll(() => page.getByText('cannot call this model in that format').count()).toBe(0)
  })

  test('a model is found by a part of its name', async () => {
    const { page, gateway } = await visit(MODEL)
    await page.keyboard.press('/')
    const box = page.getByRole('combobox', { name: 'Model' })
    await expect.poll(() => box.getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.type('fixture of no kind')
    await page.getByText('No model name contains this text.').waitFor()
    await page.keyboard.press('Escape')
    await vi.waitFor(
      async () =>
        expect([await box.getAttribute('aria-expanded'), await box.inputValue()]).toEqual(['false', 'replay']),
      SOON,
    )
    await page.keyboard.press('ArrowDown')
    const { data } = (await gateway.admin.get('/models')).json
    const other = data.find(
      (one: { id: string; abilities: string[] }) => one.id !== 'replay' && one.abilities.includes('converse'),
    ).id
    await page.keyboard.type(other)
    const options = page.locator('.options [role=option]')
    await vi.waitFor(
      async () => expect((await options.allTextContents()).every(text => text.includes(other))).toBe(true),
      SOON,
    )
    const first = (await options.first().locator('.cut').textContent())!
    await page.keyboard.press('Enter')
    await expect.poll(() => box.inputValue()).toBe(first)
  })

  test('the address is the public one of the page, and another can be chosen', async () => {
    const server = { ...configOf([]).server, publicUrls: ['https://ai.example.com/', 'https://ai.example.cn'] }
    const { page } = await visit(MODEL, { config: { server } })
    const texts = () => textsOf(page)
    await expect.poll(() => texts()).toContain('ANTHROPIC_BASE_URL=https://ai.example.com\n')
    await page.getByLabel('Base URL', { exact: true }).selectOption('https://ai.example.cn')
    await expect.poll(() => texts()).toContain('ANTHROPIC_BASE_URL=https://ai.example.cn\n')
  })

  test.each(['Chat', 'Responses', 'Messages', 'Contents'])('a request is tried: %s', async format => {
    const { page, gateway } = await visit(MODEL)
    const form = page.locator('.trial-form')
    await form.getByRole('radio', { name: format }).check()
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('Done', { exact: true }).waitFor()
    await page.getByText('HTTP 200', { exact: true }).waitFor()
    await page.getByText('No losses').waitFor()
    const answer = (await page.getByRole('region', { name: 'Response' }).textContent())!
    expect(answer).toMatch(/\w{4}/)
    const events = await page.locator('.event pre').allInnerTexts()
    expect(events.length).toBeGreaterThan(2)
    expect(events.every(one => /^(event|data): ?/.test(one))).toBe(true)
    const link = page.locator('.trial-line a')
    const id = (await link.textContent())!
    await expect.poll(() => link.getAttribute('href')).toBe(`/console/traffic?request=${id}`)
    await expect
      .poll(async () => (await gateway.admin.ask('GET', `/requests/${id}`).catch(() => undefined))?.status)
      .toBe(200)
    const { json } = await gateway.admin.get(`/requests/${id}`)
    expect(json).toMatchObject({
      format: format.toLowerCase(),
      model: 'replay',
      key_name: 'dev',
      status: 200,
      stream: true,
    })
    await link.click()
    await page.locator('.request-id').filter({ hasText: id }).waitFor()
  })

  test('an answer is shown while it comes, and stops when it is told to', async () => {
    let answer: Parameters<Script>[0] | undefined
    const { upstream, config } = await withUpstream(response => {
      answer = response
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(BEGIN + piece('One, '))
    })
    const { page } = await visit('/start?client=claude-code', { config })
    await page.getByRole('button', { name: 'Try it' }).click()
    const text = page.getByRole('region', { name: 'Response' })
    await text.getByText('One,').waitFor()
    await page.getByText('Receiving…').waitFor()
    const before = await page.locator('.event').count()
    answer!.write(piece('two, '))
    await text.getByText('One, two,').waitFor()
    await expect.poll(() => page.locator('.event').count()).toBeGreaterThan(before)
    const times = (await page.locator('.event-time').allInnerTexts()).map(one => Number(/\d+/.exec(one)![0]))
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped', { exact: true }).waitFor()
    await expect.poll(() => upstream.seen[0]!.brokenAt).toBeGreaterThan(0)
    await text.getByText('One, two,').waitFor()
  })

  test('losses are named with their place and reason; bodies can be written by hand', async () => {
    const { upstream, config } = await withUpstream(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(BEGIN + piece('Hello <img src=x onerror=alert(1)>') + END)
    })
    const { page } = await visit('/start?client=openai', { config })
    await page.locator('.trial-form').getByRole('radio', { name: 'Chat' }).check()
    await page.locator('.trial-form summary').click()
    const body = page.getByRole('textbox', { name: 'Request body' })
    const written = JSON.parse(await body.inputValue())
    await body.fill('{')
    await page.getByText('This is not a JSON object.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Try it' }).isDisabled()).toBe(true)
    await body.fill(JSON.stringify({ ...written, logit_bias: { 7: 1 }, verbosity: 'low' }))
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('Done', { exact: true }).waitFor()
    await page.locator('.trial-losses').getByText('verbosity', { exact: true }).waitFor()
    await page.locator('.trial-losses').getByText('no verbosity').waitFor()
    await page
      .locator('.trial-line')
      .getByText(/\d loss/)
      .waitFor()
    expect(JSON.parse(upstream.seen[0]!.text)).not.toHaveProperty('verbosity')
    // Upstream text is never markup.
    await page.getByRole('region', { name: 'Response' }).getByText('Hello <img src=x onerror=alert(1)>').waitFor()
    await expect.poll(() => page.locator('.answer img').count()).toBe(0)
    await page.getByRole('button', { name: 'Reset to the prompt' }).click()
    await expect.poll(async () => JSON.parse(await body.inputValue())).toEqual(written)
  })

  test('what an upstream refuses is shown with its status and error', async () => {
    const { config } = await withUpstream(response => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'Not like this.' } }),
      )
    })
    const { page } = await visit('/start?client=claude-code', { config })
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText('HTTP 400', { exact: true }).waitFor()
    await page.locator('.answer-error').getByText('Not like this.').waitFor()
    await expect.poll(() => page.getByText('No losses').count()).toBe(0)
  })

  test('without a key, there is one to make; the first is chosen at once', async () => {
    const { page, axe } = await visit(MODEL, { config: { keys: [] } })
    await page.getByText('No keys yet').first().waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Try it' }).isDisabled()).toBe(true)
    await expect.poll(() => textsOf(page)).toContain('YOUR_KEY')
    await axe()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('first')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Secret of first' }).waitFor()
    await expect.poll(() => page.getByRole('combobox', { name: 'Key' }).inputValue()).toBe('first')
    await expect.poll(() => page.getByRole('button', { name: 'Try it' }).isEnabled()).toBe(true)
  })

  test('without a model and without a channel, it says what is missing', async () => {
    const first = await visit('/start', { config: { channels: [] } })
    await first.page.getByText('No upstreams yet').waitFor()
    await first.axe()
    const second = await visit('/start')
    const { json } = await second.gateway.admin.post('/keys', { name: 'none', models: ['no-such-model'] })
    await second.goTo(`/?key=${json.id}`)
    await second.page.getByText('This key may not call any conversation model').waitFor()
    await expect.poll(() => textsOf(second.page)).toContain('YOUR_MODEL')
  })

  test('a viewer sees the settings, and neither makes keys nor tries requests', async () => {
    const { page } = await visit(MODEL, { role: 'viewer' })
    await page.getByText('Only administrators can send requests from here.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'New key' }).count()).toBe(0)
    await page.keyboard.press('n')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await expect.poll(async () => (await pastedFrom(page)).length).toBe(2)
  })

  test.each(WIDTHS.flatMap(width => THEMES.map(theme => ({ width, theme }))))(
    'is accessible at $width px in $theme',
    async ({ width, theme }) => {
      const { page, axe } = await visit(MODEL, { width, theme })
      await page.getByRole('button', { name: 'New key' }).click()
      await axe()
      await page.getByRole('dialog').getByLabel('Name').fill('mine')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Hide' }).waitFor()
      await page.getByRole('tab', { name: 'LangChain' }).click()
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByText('Done', { exact: true }).waitFor()
      await axe()
      await page.getByRole('combobox', { name: 'Model' }).click()
      await axe()
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    },
  )

  test('fits a phone with a channel of a long name', async () => {
    const channels = [channelAt('http://127.0.0.1:9', { name: 'eu-west-1'.repeat(10) })]
    const { page } = await visit('/start', { config: { channels }, width: 390 })
    await page.locator('.model-facts .badge').nth(1).waitFor()
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  })

  test('speaks Chinese', async () => {
    const { page, axe } = await visit(MODEL, { language: 'zh' })
    await page.getByRole('heading', { level: 1, name: '开始' }).waitFor()
    await page.getByRole('button', { name: '发送' }).click()
    await page.getByText('完成', { exact: true }).waitFor()
    await axe()
  })
})
