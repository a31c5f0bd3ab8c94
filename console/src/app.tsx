import { useEffect, useState } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { hrefOf } from './href.ts'
import { common } from './i18n/common.ts'
import { noteShown } from './leaving.ts'
import { homeOf, type PageName, ROUTES } from './routes.ts'
import { isAdmin, isWaiting, session } from './session-state.ts'
import { Broken } from './shell/broken.tsx'
import { Help } from './shell/help.tsx'
import { Nav } from './shell/nav.tsx'
import { NotFound } from './shell/not-found.tsx'
import { SignIn, SignInAgain } from './shell/sign-in.tsx'
import { Loading } from './ui/states.tsx'
import { Toasts } from './ui/toast.tsx'
import { VIEWS } from './views.ts'

/** Finds the name of the page at a path. A trailing slash is ignored. */
const pageAt = (path: string, query: object): PageName | undefined =>
  path.replace(/\/$/, '') === hrefOf('')
    ? homeOf(isAdmin.value, Object.keys(query).length > 0)
    : ROUTES.find(one => hrefOf(one.path) === path.replace(/\/$/, ''))?.name

/** The whole console: the sign-in form without a session, the pages with one. */
export function App() {
  if (session.value === undefined) return <Loading lines={1} />
  return (
    <>
      {session.value === null ? <SignIn /> : <Shell key={session.value.user.name} />}
      {isWaiting.value && <SignInAgain />}
      <Toasts />
    </>
  )
}

const Shell = () => (
  <LocationProvider scope={/^\/console(\/|$)/}>
    <a class="skip" href="#content">
      {common().skip}
    </a>
    <Nav />
    <main id="content" tabIndex={-1}>
      <Pages />
    </main>
    <Titled />
    <Help />
  </LocationProvider>
)

/** The open page, or the reason why it cannot be shown, until another page is opened. */
function Pages() {
  const { url } = useLocation()
  const [broken, setBroken] = useState<string>()
  if (broken === url) return <Broken />
  const onError = (fault: Error): void => {
    console.error(fault)
    setBroken(url)
  }
  return (
    <ErrorBoundary onError={onError}>
      <Router onRouteChange={entered}>
        <Route path={hrefOf('/')} component={Home} />
        {ROUTES.map(({ name, path }) => (
          <Route key={name} path={hrefOf(path)} component={VIEWS[name]} />
        ))}
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  )
}

/** The page at `/`. */
function Home() {
  const { query } = useLocation()
  const View = VIEWS[homeOf(isAdmin.value, Object.keys(query).length > 0)]
  return <View />
}

/** Moves the focus to the content after a page change, so that screen readers continue there. */
function entered(): void {
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Sets the document's title to that of the open page, and notes its address. */
function Titled() {
  const { path, query, url } = useLocation()
  const page = pageAt(path, query)
  const title = page === undefined ? '' : `${common().pages[page]} · `
  useEffect(() => {
    document.title = `${title}Interlingua`
  }, [title])
  useEffect(() => noteShown(url), [url])
  return null
}
