import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { Checkout } from '../checkout.ts'
import { SAID, TURNS } from '../endpoints/said.ts'
import type { Outcomes } from '../outcomes.ts'
import { Started } from '../started.ts'
import { cascade } from './cascade.ts'

/** `npm ci --omit=dev`: first from the sources and without a console, then with a copied bundle and console. */
export async function runtimeOnly(outcomes: Outcomes, built: string): Promise<void> {
  const checkout = new Checkout()
  try {
    await outcomes.try('npm ci --omit=dev says what is not built, and how to have it', () => {
      const { out, fault } = checkout.install('--omit=dev')
      assert.match(out, /To have it: npm ci --include=dev/)
      assert.equal(fault, '')
    })
    const started = await Started.open(checkout.folder, {}, { hasKeys: false })
    try {
      await outcomes.try('the greeting names no console and no password', async () => {
        assert.doesNotMatch(started.out, /\/console\/|password/)
        assert.match(started.out, /^console {2}is not built\. To build it, run `npm ci --include=dev`/m)
        await started.ask('/console/', {}, 503)
      })
      await outcomes.try('the sources answer', async () => {
        assert.equal((await started.administrator()('/admin/v1/status')).json.running, 'sources')
        const body = { model: 'replay', messages: TURNS }
        assert.equal((await started.ask('/v1/chat/completions', { body })).json.choices[0].message.content, SAID)
      })
      await outcomes.try('it stops in order', () => started.stop())
    } finally {
      await started.kill()
    }
    for (const folder of ['dist', 'console/dist'])
      cpSync(join(built, folder), join(checkout.folder, folder), { recursive: true })
    await cascade(outcomes, checkout.folder)
  } finally {
    checkout.close()
  }
}
