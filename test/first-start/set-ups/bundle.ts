import assert from 'node:assert/strict'
import type { Ask } from '../ask.ts'

/** Asserts that this number of processes answers, and that each reports to run from the bundle. */
export async function runsFromBundle(administrator: Ask, processes = 1): Promise<void> {
  const seen = new Set<string>()
  for (let asked = 0; seen.size < processes && asked < 200; asked++) {
    const { json } = await administrator('/admin/v1/status')
    assert.equal(json.running, 'bundle')
    seen.add(json.instance)
  }
  assert.equal(seen.size, processes, 'as many processes answer as there should be')
}
