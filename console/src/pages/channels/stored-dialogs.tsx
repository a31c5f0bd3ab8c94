import { get, remove } from '../../api/request.ts'
import type { Channel, ChannelYaml } from '../../api/types.ts'
import { useLoad } from '../../api/use-load.ts'
import { common } from '../../i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { Yaml } from './editor/yaml.tsx'
import { text } from './texts.ts'

interface StoredDialogProps {
  readonly of: Channel
  /** Called after the channel was deleted. */
  readonly onDone: () => unknown
  readonly onClose: () => void
}

/** Dialog that asks before a stored channel is deleted. */
export function DeleteDialog({ of: { name, stored }, onDone, onClose }: StoredDialogProps) {
  const words = text().remove
  return (
    <Confirm
      title={words.title(name)}
      action={text().actions.delete}
      danger
      onClose={onClose}
      onConfirm={async () => {
        await remove(`/channels/${encodeURIComponent(name)}`)
        toast(words.done(name))
        await onDone()
      }}
    >
      <p>{stored?.shadowed === true ? words.shadowed : words.text}</p>
    </Confirm>
  )
}

/** Dialog with a stored channel as text for the config file. */
export function YamlDialog({ of: { name }, onClose }: StoredDialogProps) {
  const path = `/channels/${encodeURIComponent(name)}/yaml`
  const yaml = useLoad(signal => get<ChannelYaml>(path, {}, signal), [name])
  return (
    <Dialog
      title={text().editor.yamlOf(name)}
      wide
      onClose={onClose}
      footer={<Button onClick={onClose}>{common().close}</Button>}
    >
      <Loaded of={yaml} lines={4}>
        {of => <Yaml of={of} />}
      </Loaded>
    </Dialog>
  )
}
