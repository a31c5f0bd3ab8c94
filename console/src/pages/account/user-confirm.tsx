import { patch, post, remove } from '../../api/request.ts'
import type { User } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { toast } from '../../ui/toast.tsx'
import { text } from './texts.ts'

/** Actions on a user that need a confirmation. */
export type Asked = 'reset' | 'end' | 'disable' | 'remove'

interface UserConfirmProps {
  readonly asked: Asked
  readonly user: User
  readonly onPassword: (name: string, password: string) => void
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Dialog that asks before an action on a user and then performs it. */
export function UserConfirm({ asked, user, onPassword, onDone, onClose }: UserConfirmProps) {
  const words = text().users
  const path = `/users/${encodeURIComponent(user.name)}`
  const work: { readonly [A in Asked]: () => Promise<void> } = {
    reset: async () => onPassword(user.name, (await post<{ password: string }>(`${path}/password`)).password),
    end: async () => {
      await remove(`${path}/sessions`)
      toast(words.ended(user.name))
    },
    disable: async () => {
      await patch(path, { enabled: false })
      toast(words.changed(user.name))
    },
    remove: async () => {
      await remove(path)
      toast(words.removed(user.name))
    },
  }
  return (
    <Confirm
      title={words.confirm[asked](user.name)}
      action={words[asked]}
      danger={asked !== 'reset'}
      onConfirm={async () => {
        await work[asked]()
        onDone()
      }}
      onClose={onClose}
    >
      <p>{words.confirm[`${asked}Text`]}</p>
    </Confirm>
  )
}
