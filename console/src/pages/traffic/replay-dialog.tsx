import { useState } from 'preact/hooks'
import { get, post } from '../../api/request.ts'
import type { AllOf, Capture, Model } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { FormActions } from '../../ui/form-actions.tsx'
import { toast, toastProblem } from '../../ui/toast.tsx'
import { text } from './texts.ts'

interface ReplayDialogProps {
  readonly capture: Capture
  readonly onSent: (id: string) => void
  readonly onClose: () => void
}

/** Dialog that sends a captured request again, optionally to a chosen channel. */
export function ReplayDialog({ capture, onSent, onClose }: ReplayDialogProps) {
  const words = text().replay
  const { id, key, model, attempts } = capture
  const before = attempts.at(-1)?.channel
  const [channel, setChannel] = useState('')
  const models = useLoad(signal => get<AllOf<Model>>('/models', { key }, signal), [key])
  const known = models.data?.data.find(one => one.id === model)?.channels.map(({ name }) => name) ?? []
  const names = [...new Set([...known, ...attempts.map(one => one.channel)])]
  const submit = async (): Promise<void> => {
    try {
      const made = await post<{ readonly id: string }>(
        `/requests/${encodeURIComponent(id)}/replay`,
        channel === '' ? {} : { channel },
      )
      toast(words.sent)
      onSent(made.id)
    } catch (thrown) {
      toastProblem(thrown)
    }
  }
  return (
    <Dialog
      title={words.title}
      onClose={onClose}
      onSubmit={submit}
      footer={<FormActions submit={words.submit} icon="play" onClose={onClose} />}
    >
      <p>{words.text}</p>
      <Select
        label={words.channel}
        data-autofocus
        value={channel}
        onValue={setChannel}
        options={[
          { value: '', label: words.routed },
          ...names.map(name => ({ value: name, label: name === before ? words.again(name) : name })),
        ]}
      />
    </Dialog>
  )
}
