import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { API } from '../api/request.ts'
import { asProblem } from '../api/use-load.ts'
import { common } from '../i18n/common.ts'
import { noteReturn } from '../returning.ts'
import { resumeSession, signIn } from '../session.ts'
import { provider, session, signedOut } from '../session-state.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { messageOf } from '../ui/states.tsx'
import { Looks } from './looks.tsx'

/** Covers a page that waits for its user to sign in again. */
export function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current!.showModal()
    const resume = (): void => void resumeSession()
    window.addEventListener('focus', resume)
    return () => {
      window.removeEventListener('focus', resume)
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="sign-in-again"
      aria-label={common().signIn.submit}
      onCancel={cancel}
      onClose={() => dialog.current?.showModal()}
    >
      <SignIn isAgain />
    </dialog>
  )
}

const cancel = (event: Event): void => event.preventDefault()

interface SignInProps {
  /** True if a page waits for the sign-in. The identity provider then opens in another tab. */
  readonly isAgain?: boolean
}

/** Form to sign in with a password or through the identity provider. */
export function SignIn({ isAgain = false }: SignInProps) {
  const text = common()
  const [name, setName] = useState((isAgain ? session.value?.user.name : undefined) ?? 'admin')
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const why = fault ?? (signedOut.value === undefined ? undefined : text[signedOut.value])

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    await signIn(name, password).catch(thrown => setFault(wordsFor(thrown)))
    setBusy(false)
  }

  const Place = isAgain ? 'div' : 'main'
  return (
    <Place class="sign-in">
      <form class="card" onSubmit={submit}>
        <div class="brand">
          <svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M8 11h9.5a4.5 4.5 0 0 1 0 9H15M24 21h-9.5a4.5 4.5 0 0 1 0-9H17" />
          </svg>
          <h1>Interlingua</h1>
        </div>
        {why !== undefined && (
          <div class="problem" role="alert">
            <Icon name="warning" />
            <span>{why}</span>
          </div>
        )}
        <Field
          label={text.signIn.name}
          value={name}
          onValue={setName}
          autocomplete="username"
          required
          spellcheck={false}
          autocapitalize="none"
        />
        <Field
          label={text.signIn.password}
          type="password"
          value={password}
          onValue={setPassword}
          autocomplete="current-password"
          required
          autoFocus
        />
        <Button kind="primary" type="submit" busy={isBusy}>
          {text.signIn.submit}
        </Button>
        {provider.value && (
          <>
            <div class="or">{text.signIn.or}</div>
            <a
              class="button secondary"
              href={`${API}/session/oidc`}
              target={isAgain ? '_blank' : undefined}
              onClick={isAgain ? undefined : noteReturn}
            >
              {text.signIn.with(provider.value.name)}
            </a>
          </>
        )}
        <p class="faint">{text.signIn.hint}</p>
      </form>
      <Looks />
    </Place>
  )
}

function wordsFor(thrown: unknown): string {
  const problem = asProblem(thrown)
  if (problem.status === 401) return common().signIn.wrong
  if (problem.status === 429) return common().signIn.locked(Math.max(1, Math.ceil((problem.retryAfter ?? 60) / 60)))
  return messageOf(problem)
}
