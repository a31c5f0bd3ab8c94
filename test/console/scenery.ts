import type { UsageRow } from '../../src/store/usage/row.ts'
import { traffic } from '../builders/usage.ts'
import type { ConsoleGateway } from './gateway.ts'

const DAY = 86_400_000

const GROUPS = [
  { name: 'research', models: ['*'], tpm: 2_000_000, budget: { month: 1500 } },
  { name: 'support', models: ['gpt-*', 'claude-haiku-*'], rpm: 600, on_loss: 'refuse' },
]

const KEYS = [
  { name: 'claude-code-ada', group: 'research', note: 'Laptop of Ada', budget: { day: 20 } },
  { name: 'batch-embeddings', group: 'research', doors: ['embeddings'], tpm: 500_000 },
  { name: 'helpdesk-bot', group: 'support', rpm: 120, expires_at: '2027-06-30T00:00:00Z' },
  { name: 'nightly-evals', group: 'research', concurrent: 8, budget: { month: 400 } },
  { name: 'intern-2026', group: 'support', enabled: false },
  { name: 'codex-ci', group: 'default', models: ['gpt-5.6', 'gpt-5.6-mini'] },
  { name: 'playground', group: 'default' },
]

/** Models and channels that generated rows refer to by index. */
const MODELS = ['gpt-5.6', 'claude-opus-4-8', 'gemini-3-pro', 'gpt-5.6-mini', 'claude-haiku-4-8', 'deepseek-v4']
const CHANNELS = ['openai', 'anthropic', 'google', 'openrouter']

/** Fills a gateway with groups, keys and 30 days of requests, for screenshots and tests of lists. */
export async function furnish({ admin }: ConsoleGateway, requests = 6000): Promise<void> {
  for (const group of GROUPS) await admin.post('/groups', group)
  const ids: { id: string; name: string; group: string }[] = []
  for (const key of KEYS) {
    const { json } = await admin.post('/keys', key)
    ids.push({ id: json.id, name: key.name, group: key.group })
  }
  const now = Date.now()
  const range = {
    since: now - 30 * DAY,
    until: now - 60_000,
    keys: KEYS.length - 1,
    models: MODELS.length,
    channels: 4,
  }
  const numberIn = (text: string | undefined): number => Number(text?.split('-').at(-1) ?? 0)
  const named = (row: UsageRow): UsageRow => {
    const key = ids[numberIn(row.keyName)]!
    const model = MODELS[numberIn(row.model)]!
    return {
      ...row,
      ...{ key: key.id, keyName: key.name, group: key.group, model, upstreamModel: model },
      channel: CHANNELS[numberIn(row.channel)]!,
    }
  }
  const rows = [...traffic(requests, range)].map(named)
  await admin.store.usage.add(rows)
  const last = new Map(rows.map(({ key, at }) => [key!, at]))
  await admin.store.access.recordUses(last)
}
