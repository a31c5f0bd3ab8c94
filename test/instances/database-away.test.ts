import { expect, test } from 'vitest'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { noPostgres, startPostgres } from '../builders/postgres.ts'
import { pause, until } from '../builders/time.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { Fleet } from './fleet.ts'

/* Answers of a gateway whose database is unavailable for a while. */

const KEY = 'sk-of-the-outage'
const closing = closingAfterEach()

interface Line {
  readonly level: number | string
  readonly msg: string
  readonly [field: string]: unknown
}

const linesIn = (written: string): Line[] =>
  written.split('\n').flatMap(line => {
    try {
      return [JSON.parse(line) as Line]
    } catch {
      return []
    }
  })

test.skipIf(noPostgres !== undefined)(
  'a database that is away is said once when it goes and once when it is back',
  async () => {
    const postgres = await startPostgres()
    closing.push(() => postgres.close())
    const upstream = await FakeUpstream.open(response => json(response, ANSWER))
    closing.push(() => upstream.close())
    const { url } = await postgres.database()
    const channel = { provider: 'custom', key: 'none', name: 'up', formats: ['chat'], models: ['m'] }
    const fleet = await Fleet.start(
      {
        store: url,
        config: {
          tasks: { poll: '1s' },
          groups: { default: { budget: { day: 100 } } },
          models: { m: { price: { input: 2, output: 2 } } },
          keys: [{ name: 'fixed', key: KEY, group: 'default' }],
          channels: [{ ...channel, base_url: `${upstream.address}/v1` }],
        },
      },
      2,
      1,
    )
    closing.push(() => fleet.close())
    const [one] = fleet.instances
    const asks = async () => {
      await fleet.ask('/v1/chat/completions', KEY, ASK)
      await fleet.ask('/v1/responses', KEY, { model: 'm', input: 'x' })
      await fleet.ask('/v1/models', 'il-wrong')
      await fleet.ask('/metrics', KEY)
    }
    await asks()
    const before = one!.written.length
    await postgres.crash()
    for (let round = 0; round < 16; round++) {
      await asks()
      await pause(500)
    }
    await postgres.start()
    const since = () => linesIn(one!.written.slice(before)).filter(({ msg }) => msg !== 'request')
    await until(() => since().filter(({ msg }) => msg === 'the store works again').length === 2)
    await pause(3000)
    const said = since().map(({ msg }) => msg)
    expect(said.toSorted()).toEqual([
      ...Array(2).fill('the store cannot be used'),
      ...Array(2).fill('the store works again'),
    ])
    const lines = since()
    for (const line of lines.filter(({ msg }) => msg === 'the store cannot be used'))
      expect(line).toMatchObject({ level: 40, store: 'unreachable', fault: expect.stringMatching(/^[^\n]+$/) })
    for (const line of lines.filter(({ msg }) => msg === 'the store works again')) {
      expect(line).toMatchObject({ level: 30, seconds: expect.any(Number), affected: expect.any(Number) })
      expect(line['affected']).toBeGreaterThan(5)
      expect(line['seconds']).toBeGreaterThan(5)
    }
    expect(one!.written.slice(before)).not.toContain('"stack"')
  },
)
