import { patch } from '../../api/request.ts'
import type { Key } from '../../api/types.ts'
import type { Loaded } from '../../api/use-load.ts'
import { time } from '../../format.ts'
import { isAdmin } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { toast, toastProblem } from '../../ui/toast.tsx'
import { text } from './texts.ts'

/** Reminder of the keys whose requests are captured now, with buttons to stop. */
export function Capturing({ keys }: { readonly keys: Loaded<readonly Key[]> }) {
  const words = text().detail
  const captured = (keys.data ?? []).filter(
    ({ capture_until: until }) => until !== undefined && Date.parse(until) > Date.now(),
  )
  const stop = async ({ id, name }: Key): Promise<void> => {
    try {
      await patch(`/keys/${encodeURIComponent(id)}`, { capture: null })
      toast(words.stopped(name))
      await keys.reload()
    } catch (thrown) {
      toastProblem(thrown)
    }
  }
  return (
    <>
      {captured.map(key => (
        <div key={key.id} class="callout capturing">
          <Icon name="record" />
          <span>{words.capturing(key.name, time(key.capture_until!))}</span>
          {isAdmin.value && key.source === 'store' && (
            <Button small onClick={() => stop(key)}>
              {words.stopCapture}
            </Button>
          )}
        </div>
      ))}
    </>
  )
}
