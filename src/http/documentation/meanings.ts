/**
 * What members mean where their schema leaves it to their name.
 *
 * Schemas describe what needs describing to somebody who reads code. A reader of the reference has nothing but the table,
 * so there every member has its words. Words in a schema come first; a test finds members without any, and words here
 * that no member needs.
 */
import type { OpenApiDocument, SchemaNode } from './schema-node.ts';

/** By the name of the member, wherever it occurs. */
export const meaningsByMember: Readonly<Record<string, string>> = {
  MajorVersion: 'Version of the operation.',
  MinorVersion: 'Its second part.',
  ServiceResponses: 'One element for each additional service that has an answer.',
  AP_ID: 'As in the request.',
  AP_TransID: 'As in the request.',
  MSISDN: 'As the request wrote it.',
  StatusCode: 'How the call went; see Status codes.',
  StatusMessage: 'The name of the code.',
  Encoding: 'How the text is encoded.',
  status: 'The state as one word.',
};

/** By component and path. */
export const meaningsByPath: Readonly<Record<string, string>> = {
  'AP_InfoAnswer.Instant': 'As in the request, written in UTC with three decimals and `Z`.',
  'MSSP_ID.URI': 'An absolute URI. Answers repeat it; the profile operation answers in its dialect.',
  'MSSP_InfoAnswer.MSSP_ID.URI': 'As in the request.',
  'MSS_Signature.Base64Signature': 'DER in Base64; see Checking a signature.',

  'MSS_SignatureReq.MinorVersion': '`2`. Older clients send `1`.',
  'MSS_SignatureReq.MessagingMode': '`synch`: answer when the person has acted. `asynch`: answer at once.',
  'MSS_SignatureReq.AdditionalServices':
    'What to do beside signing. May be empty, but has to be there; each service once.',
  'DataToBeSigned.MimeType':
    '`text/plain`, or a transaction approval: JSON text that the App shows as rows (profile Device-LoA4 only).',
  'DataToBeSigned.Data':
    'What the person reads and signs. Your operator may require it to begin with your name. For an approval: `{"type", "dtbd": [{"key", "value"}]}` as text.',
  'AdditionalService.Description': 'Which service; see Additional services.',
  'AdditionalService.UserLang.Value': 'Language of the dialogue on the phone, such as `en` or `DE`.',
  'AdditionalService.App2App.RedirectUri':
    'Absolute URI of your app. The phone returns to it after the person has acted.',
  'GeoFencingRequest.countrywhitelist': 'Countries that are allowed, ISO 3166-1.',
  'GeoFencingRequest.countryblacklist': 'Countries that are not.',
  'GeoFencingRequest.mindeviceconfidence': 'Least trust in the device, 0 to 1.',
  'GeoFencingRequest.minlocationconfidence': 'Least trust in the location, 0 to 1.',
  'GeoFencingRequest.maxtimestampminutes': 'Greatest age of the location, minutes.',
  'GeoFencingRequest.maxaccuracymeters': 'Greatest radius of uncertainty, metres.',

  'ServiceResponse.Geofencing': 'Where the device is, or why that is not known.',
  'ServiceResponse.Geofencing.Country': 'ISO 3166-1, two letters.',
  'ServiceResponse.Geofencing.DeviceConfidence': 'Trust in the device, `0` to `1.0`.',
  'ServiceResponse.Geofencing.LocationConfidence': 'Trust in the location, `0` to `1.0`.',
  'ServiceResponse.Geofencing.Timestamp': 'When the location was taken, with offset.',
  'ServiceResponse.Geofencing.ErrorMessage': 'The error in words.',
  'ServiceResponse.App2App': 'How to open the App.',
  'ServiceResponse.App2App.AuthUri': 'Open this on the phone: it is the prompt, and no push is sent.',
  'ServiceResponse.SubscriberInfo': 'What the operator knows about the subscriber.',
  'ServiceResponse.SubscriberInfo.Details': 'Pairs of id and value.',
  'Details.id': '`1901`: the network.',
  'Details.value': 'For 1901 the mobile country code and the network code, `22801`.',
  'SignatureStatus.StatusCode.Value': '100, 500, 502 or 504.',

  'MSS_ReceiptReq.MSSP_TransID': 'The transaction that was signed. Yours, and of the same number.',
  'ReceiptMessage.MimeType': 'What the text is.',
  'ReceiptMessage.Data': 'What the person reads.',
  'ReceiptReqStatus.StatusCode.Value': 'Nothing else is possible.',
  'ReceiptReqStatus.StatusDetail': 'Leave it out, and the answer has no extension.',
  'ReceiptReqStatus.StatusDetail.ReceiptRequestExtension': 'Asks for the extension in the answer.',
  'ReceiptReqStatus.StatusDetail.ReceiptRequestExtension.ReceiptMessagingMode': 'Receipts are synchronous.',
  'ReceiptReqStatus.StatusDetail.ReceiptRequestExtension.ReceiptProfile': 'How to show it.',
  'ReceiptReqStatus.StatusDetail.ReceiptRequestExtension.ReceiptProfile.ReceiptProfileURI':
    'An absolute URI, such as `http://mss.vendor.fi/synch`.',
  'ReceiptRespStatus.StatusCode.Value': 'Always 100.',
  'ReceiptRespStatus.StatusDetail': 'There if the request asked for it.',
  'ReceiptRespStatus.StatusDetail.ReceiptResponseExtension': 'What the person did.',
  'ReceiptRespStatus.StatusDetail.ReceiptResponseExtension.UserAck':
    '`true` if the phone showed it, whatever the person did then.',
  'ReceiptRespStatus.StatusDetail.ReceiptResponseExtension.ClientAck': 'Always `false`.',
  'ReceiptRespStatus.StatusDetail.ReceiptResponseExtension.NetworkAck': 'Always `false`.',
  'ReceiptRespStatus.StatusDetail.ReceiptResponseExtension.ReceiptMessagingMode': 'Receipts are synchronous.',
  'ReceiptRespStatus.StatusDetail.ReceiptResponseExtension.FaultMessage':
    'In words, unless the person accepted.',

  'ProfileStatus.StatusCode.Value': 'Always 100.',
  'ProfileStatus.StatusDetail': 'There if Params asked for anything.',
  'ProfileQueryExtension.MobileUser': 'With `aastatus` or `rcstatus`.',
  'ProfileQueryExtension.MobileUser.AutoActivation': 'Whether the account activates itself.',
  'ProfileQueryExtension.MobileUser.RecoveryCodeCreated': 'Whether there is a recovery code.',
  'ProfileQueryExtension.Sscds': 'With `sscds`: the devices that can sign.',
  'ProfileQueryExtension.Sscds.App': 'Absent when the person has no App.',
  'ProfileQueryExtension.Sscds.Sim': 'Absent when the SIM cannot sign.',
  'Sscd.CardDetails': 'With `carddetails`: the network of the SIM.',
  'Sscd.CardDetails.Mcc': 'Mobile country code; `000` when unknown.',
  'Sscd.CardDetails.Mnc': 'Mobile network code; `00` when unknown.',
  'Sscd.CardDetails.Network': 'Name of the network; `Unknown network` when unknown.',
  'Sscd.MobileUserCertificate': 'With `certs`.',
  'Sscd.PinStatus': 'With `pinstatus`.',
  'Sscd.PinStatus.Blocked': 'Whether the PIN is blocked.',
  'Sscd.State': 'With `state`.',
  'MobileUserCertificate.Algorithm': 'Kind of the key: `EC` is P-256, `RSA` has 2048 bits.',
  'MobileUserCertificate.State': 'State of the certificate.',

  'Fault.Fault': 'The one member of the body.',
  'Fault.Fault.Code': 'The code and its side.',
  'Fault.Fault.Code.SubCode': 'The code; see Faults.',
  'Fault.Fault.Code.SubCode.ValueNs': 'Always the same.',
  'Fault.Fault.Code.ValueNs': 'Always the same.',
  'Unavailable.reasons': 'One sentence each.',
};

const withMeanings = (node: SchemaNode, path: string): SchemaNode => ({
  ...node,
  ...(node.items !== undefined && { items: withMeanings(node.items, path) }),
  ...(node.properties !== undefined && {
    properties: Object.fromEntries(
      Object.entries(node.properties).map(([name, member]) => {
        const at = `${path}.${name}`;
        const meaning =
          meaningsByPath[at] ?? (member.$ref === undefined ? meaningsByMember[name] : undefined);
        const described = member.description === undefined && meaning !== undefined;
        return [name, withMeanings({ ...member, ...(described && { description: meaning }) }, at)];
      }),
    ),
  }),
});

/** Puts the words above into a document, where it has none of its own. */
export const fillMeanings = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  components: {
    schemas: Object.fromEntries(
      Object.entries(document.components.schemas).map(([name, schema]) => [name, withMeanings(schema, name)]),
    ),
  },
});
