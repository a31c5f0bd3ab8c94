import { useState } from 'preact/hooks'
import { time } from '../../format.ts'
import { signOut } from '../../session.ts'
import { session } from '../../session-state.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Card } from '../../ui/page.tsx'
import { toastProblem } from '../../ui/toast.tsx'
import { text } from './texts.ts'

/** The signed-in user, with buttons to sign out here or everywhere. */
export function Own() {
  const [isAsked, setAsked] = useState(false)
  const words = text()
  const { user, expires_at } = session.value!
  return (
    <Card title={words.you}>
      <dl class="facts">
        <div>
          <dt>{words.name}</dt>
          <dd>{user.name}</dd>
        </div>
        <div>
          <dt>{words.role}</dt>
          <dd>{words.roles[user.role]}</dd>
        </div>
        <div>
          <dt>{words.sessionUntil}</dt>
          <dd>{time(expires_at)}</dd>
        </div>
      </dl>
      <div class="actions">
        <Button icon="leave" onClick={() => signOut().catch(toastProblem)}>
          {words.signOut}
        </Button>
        <Button onClick={() => setAsked(true)}>{words.signOutEverywhere}</Button>
      </div>
      {isAsked && (
        <Confirm
          title={words.everywhereTitle}
          action={words.signOutEverywhere}
          danger
          onConfirm={() => signOut(true)}
          onClose={() => setAsked(false)}
        >
          <p>{words.everywhereText}</p>
        </Confirm>
      )}
    </Card>
  )
}
