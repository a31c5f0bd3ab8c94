export { readError, readInnerError } from '../errors/google-error.ts'
