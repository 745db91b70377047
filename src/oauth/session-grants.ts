/**
 * What a browser's session keeps of its logins: for each client the grants, and of the last login
 * its evidence, for other clients.
 *
 * Each login has a grant of its own, because tokens tell what their own login has proven. The
 * library knows one grant for each client and takes tokens of earlier ones for ended. So the
 * session remembers these too: a second login, in another tab or for a higher level, ends nothing.
 *
 * Stored: kind `session-login`, by the uid of the session, while the login counts for others.
 */
import type { Configuration, Provider as Library } from 'oidc-provider';
import type { SealedStore } from '../redis/sealed-store.ts';
import type { LoginEvidence } from './evidence.ts';

/** The last login of a session. */
export interface SessionLogin {
  /** Its grant, at the client that asked for it. */
  readonly grantId: string;
  readonly evidence: LoginEvidence | undefined;
}

export const readSessionLogin = async (
  store: Pick<SealedStore, 'get'>,
  sessionUid: string,
): Promise<SessionLogin | undefined> =>
  (await store.get('session-login', sessionUid)) as SessionLogin | undefined;

/** Kept in the library's session, for each client. */
interface Authorization {
  grantId?: string;
  /** The login that this grant came from: the grant of that login. */
  login?: string | undefined;
  /** Grants of earlier logins, newest first. */
  earlier?: readonly string[];
}

/** A token lives for a day at most, and a phone is asked a few times in an hour. */
const maxEarlier = 50;

interface SessionOfLibrary {
  readonly accountId?: string;
  authorizationFor(clientId: string, create?: boolean): Authorization;
  grantIdFor(clientId: string, value?: string): string | undefined;
}

interface Bound {
  readonly expiresWithSession?: boolean;
  readonly sessionUid?: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly grantId: string;
}

interface FindOptions {
  readonly ignoreSessionBinding?: boolean;
}

interface BoundModel {
  find(value: string, options?: FindOptions): Promise<Bound | undefined>;
}

/** Lets tokens live as long as their session, whatever logins follow. */
export const bindToSessions = (provider: Library): void => {
  const { Session } = provider;
  const sessions = Session.prototype as unknown as SessionOfLibrary;
  const { grantIdFor } = sessions;
  Object.assign(sessions, {
    grantIdFor(this: SessionOfLibrary, clientId: string, value?: string): string | undefined {
      if (value === undefined) return grantIdFor.call(this, clientId);
      const authorization = this.authorizationFor(clientId, true);
      const { grantId, earlier = [] } = authorization;
      if (grantId !== undefined && grantId !== value) {
        authorization.earlier = [grantId, ...earlier.filter((id) => id !== grantId)].slice(
          0,
          maxEarlier,
        );
      }
      return grantIdFor.call(this, clientId, value);
    },
  });

  const isOfSession = async ({
    sessionUid = '',
    accountId,
    clientId,
    grantId,
  }: Bound): Promise<boolean> => {
    const session = (await Session.findByUid(sessionUid)) as SessionOfLibrary | undefined;
    if (session === undefined || session.accountId !== accountId) return false;
    const { grantId: last, earlier = [] } = session.authorizationFor(clientId);
    return grantId === last || earlier.includes(grantId);
  };

  for (const model of [provider.AccessToken, provider.AuthorizationCode, provider.RefreshToken]) {
    const bound = model as unknown as BoundModel;
    const { find } = bound;
    bound.find = async function (this: BoundModel, value, options = {}) {
      const token = await find.call(this, value, { ...options, ignoreSessionBinding: true });
      if (token?.expiresWithSession !== true || options.ignoreSessionBinding === true) return token;
      return (await isOfSession(token)) ? token : undefined;
    };
  }
};

/**
 * The library's hook for the grant of a login that has just ended. A login that counts for another
 * client too gets its grant, with its evidence, when that client asks.
 */
export const existingGrantWith =
  (
    store: SealedStore,
    {
      singleSignOnSeconds,
      refreshTokenSeconds,
    }: { readonly singleSignOnSeconds: number; readonly refreshTokenSeconds: number },
  ): NonNullable<Configuration['loadExistingGrant']> =>
  async (ctx) => {
    const { client, session, provider, result } = ctx.oidc;
    if (client === undefined || session?.accountId === undefined) return undefined;
    const { clientId } = client;
    const known = session as unknown as SessionOfLibrary;
    const scope = [...ctx.oidc.requestParamOIDCScopes].join(' ');
    type Grant = InstanceType<typeof provider.Grant>;

    const widen = async (grant: Grant): Promise<Grant> => {
      const before = grant.getOIDCScope();
      grant.addOIDCScope(scope);
      if (grant.jti === undefined || grant.getOIDCScope() !== before) await grant.save();
      return grant;
    };

    const ofLogin = result?.consent?.grantId;
    if (ofLogin !== undefined) {
      const grant = await provider.Grant.find(ofLogin);
      // It was ended: a new one would be good for tokens.
      if (grant === undefined) return undefined;
      known.authorizationFor(clientId, true).login = ofLogin;
      if (singleSignOnSeconds > 0) {
        const login = { grantId: ofLogin, evidence: await store.get('evidence', ofLogin) };
        await store.put('session-login', session.uid, login, singleSignOnSeconds);
      }
      return widen(grant);
    }
    // The phone will be asked: that login brings its own grant.
    if (singleSignOnSeconds === 0 || session.past(singleSignOnSeconds)) return undefined;
    const login = await readSessionLogin(store, session.uid);
    const lastId = session.grantIdFor(clientId);
    const isOfLogin =
      lastId !== undefined && known.authorizationFor(clientId).login === login?.grantId;
    const last = isOfLogin ? await provider.Grant.find(lastId) : undefined;
    if (last !== undefined) return widen(last);
    const grant = new provider.Grant({ clientId, accountId: session.accountId });
    const saved = await widen(Object.assign(grant, { iat: session.loginTs }));
    known.authorizationFor(clientId, true).login = login?.grantId;
    if (login?.evidence !== undefined) {
      await store.put('evidence', saved.jti, login.evidence, refreshTokenSeconds);
    }
    return saved;
  };
