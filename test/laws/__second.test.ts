import { it } from 'vitest'
import { lose } from '../../src/canonical/loss.ts'
import { meaning } from '../../src/canonical/same.ts'
import { FOREIGN } from '../../src/egress/writer.ts'
import { responses as w } from '../../src/egress/responses/index.ts'
import { responses as r } from '../../src/ingress/responses/index.ts'
import { request } from './arbitrary.ts'
import { holds, plain, same } from './support.ts'
it('second', () => holds(request, asked => {
  const d = r.request!(plain(w.request!(asked, FOREIGN).wire))
  const again = w.request!(d, FOREIGN)
  same(again.losses, [])
  same(meaning(r.request!(plain(again.wire))), meaning(d))
  for (const dialect of [{stateless: true, custom_tools: false}, {cache: 'prompt_cache_breakpoint'}]) {
    const { wire, losses } = w.request!(asked, { dialect, native: false })
    same(meaning(r.request!(plain(wire))), meaning(lose(asked, losses)))
  }
}), 100000)
