export { readRetrievalError as readError } from '../retrieval-error.ts'
