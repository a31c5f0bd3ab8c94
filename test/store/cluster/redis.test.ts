import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { OpenRedis, type RedisScript } from '../../../src/store/cluster/redis.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import type { Line } from '../../builders/gateway.ts'
import { describeWithRedis, RedisServer, sharedRedis } from '../../builders/redis.ts'
import { SOON, TIMED, until } from '../../builders/time.ts'

const scriptOf = (source: string): RedisScript => ({ source, sha: createHash('sha1').update(source).digest('hex') })

const COUNT = scriptOf(`return redis.call('incrby', KEYS[1], ARGV[1])`)

describeWithRedis('a link to Redis', () => {
  const closing = closingAfterEach()

  const linkTo = async (url: string, patience = 5000) => {
    const lines: Line[] = []
    const noting = (level: Line['level']) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as Line['fields'], message })
    const link = new OpenRedis(url, { info: noting('info'), warn: noting('warn'), error: noting('error') })
    closing.push(() => link.close())
    await link.ready(patience)
    return { link, lines }
  }

  const ownServer = async (...options: string[]) => {
    const server = await RedisServer.open(...options)
    closing.push(() => server.close())
    return server
  }

  test('runs scripts that Redis does not know yet, in one step', async () => {
    const { link, lines } = await linkTo((await sharedRedis()).url)
    const key = `count-${process.pid}-${Date.now()}`
    expect(await link.run(COUNT, [key], ['5'])).toBe(5)
    expect(await link.run(COUNT, [key], ['2'])).toBe(7)
    await expect(link.run(scriptOf(`return redis.error_reply('no')`), [], [])).rejects.toThrow('no')
    expect(link.isUp).toBe(true)
    expect(lines).toEqual([])
  })

  test('tells those who subscribed, and no others', async () => {
    const { url } = await sharedRedis()
    const [{ link: one }, { link: other }] = [await linkTo(url), await linkTo(url)]
    const got: string[] = []
    const end = other.subscribe('a', message => got.push(`a ${message}`))
    other.subscribe('b', message => got.push(`b ${message}`))
    // A subscription takes effect only when Redis confirms it.
    await until(() => {
      one.publish('a', 'first')
      one.publish('b', 'first')
      return got.includes('a first') && got.includes('b first')
    })
    end()
    await until(() => {
      one.publish('b', 'second')
      return got.includes('b second')
    })
    one.publish('a', 'third')
    one.publish('b', 'third')
    await until(() => got.includes('b third'))
    expect(got).not.toContain('a third')
  })

  test('hears nothing of another database, whose gateway has channels of the same names', async () => {
    const { url } = await sharedRedis()
    const got: string[] = []
    const links = await Promise.all(['', '/0', '/1', '/1'].map(path => linkTo(url + path)))
    for (const [at, { link }] of links.entries()) link.subscribe('shared', message => got.push(`${at} ${message}`))
    const [first, , third] = links.map(({ link }) => link)
    await until(() => {
      first!.publish('shared', 'first')
      third!.publish('shared', 'second')
      return ['0 first', '1 first', '2 second', '3 second'].every(one => got.includes(one))
    })
    expect(got.filter(one => /[01] second|[23] first/.test(one))).toEqual([])
  })

  test('comes back by itself, with its subscriptions, and logs an outage once', TIMED, async () => {
    const server = await ownServer()
    const { link, lines } = await linkTo(server.url)
    const got: string[] = []
    link.subscribe('notices', message => got.push(message))
    await server.stop()
    await until(() => !link.isUp)
    const before = performance.now()
    await expect(link.run(COUNT, ['k'], ['1'])).rejects.toThrow('cannot be reached')
    expect(performance.now() - before).toBeLessThan(50)
    link.publish('notices', 'lost')
    await server.start()
    await until(() => link.isUp)
    expect(await link.run(COUNT, ['k'], ['1'])).toBe(1)
    await until(() => {
      link.publish('notices', 'again')
      return got.includes('again')
    })
    expect(got).not.toContain('lost')
    expect(lines.map(({ level, message }) => `${level} ${message}`).sort()).toEqual([
      'info Redis can be reached again',
      'warn Redis cannot be reached',
    ])
  })

  test('waits for an answer no longer than 250 ms, and not at all while Redis is silent', TIMED, async () => {
    const server = await ownServer()
    const { link } = await linkTo(server.url)
    expect(await link.run(COUNT, ['k'], ['1'])).toBe(1)
    server.pause()
    const start = performance.now()
    await expect(link.run(COUNT, ['k'], ['1'])).rejects.toThrow('does not answer')
    expect(performance.now() - start).toBeGreaterThan(200)
    expect(performance.now() - start).toBeLessThan(1000)
    expect(link.isUp).toBe(false)
    const next = performance.now()
    await expect(link.run(COUNT, ['k'], ['1'])).rejects.toThrow('cannot be reached')
    expect(performance.now() - next).toBeLessThan(50)
    server.resume()
    await until(() => link.isUp)
    expect(await link.run(COUNT, ['other'], ['1'])).toBe(1)
  })

  test('an event loop that stood still is no silence of Redis', async () => {
    const { link, lines } = await linkTo((await sharedRedis()).url)
    const answer = link.run(COUNT, [`stall-${process.pid}-${Date.now()}`], ['1'])
    await new Promise(resolve => setImmediate(resolve))
    const end = Date.now() + 400
    while (Date.now() < end);
    expect(await answer).toBe(1)
    expect(lines).toEqual([])
  })

  test('never logs its password, right or wrong', async () => {
    const server = await ownServer('--requirepass', 'right-password')
    // On a busy machine, connecting, the refusal and an answer may each take longer than the link's timeouts.
    const right = await linkTo(`redis://:right-password@127.0.0.1:${server.port}`, 0)
    await vi.waitFor(async () => expect(await right.link.run(COUNT, ['k'], ['1'])).toBeGreaterThan(0), SOON)
    const wrong = await linkTo(`redis://someone:wrong-password@127.0.0.1:${server.port}`, 0)
    const faulty = await linkTo('redis://someone:wrong-password@[nowhere', 0)
    for (const { link, lines } of [wrong, faulty]) {
      await until(() => lines.some(({ message }) => message === 'Redis cannot be reached'))
      expect(link.isUp).toBe(false)
    }
    expect(JSON.stringify(right.lines)).not.toContain('right-password')
    expect(JSON.stringify([right.lines, wrong.lines, faulty.lines])).not.toContain('password@')
    expect(JSON.stringify([wrong.lines, faulty.lines])).not.toContain('wrong-password')
  })
})
