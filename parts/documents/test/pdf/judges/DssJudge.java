import eu.europa.esig.dss.model.FileDocument;
import eu.europa.esig.dss.pades.validation.PDFDocumentValidator;
import eu.europa.esig.dss.pdf.modifications.DefaultPdfDifferencesFinder;
import eu.europa.esig.dss.pdf.pdfbox.PdfBoxDefaultObjectFactory;
import eu.europa.esig.dss.simplereport.SimpleReport;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.validation.SignedDocumentValidator;
import eu.europa.esig.dss.validation.reports.Reports;
import java.io.File;

/** Prints for each signature: file, signer, indication, sub-indication, level, and what is wrong. */
public class DssJudge {
  public static void main(String[] arguments) {
    CommonTrustedCertificateSource trust = new CommonTrustedCertificateSource();
    trust.addCertificate(DSSUtils.loadCertificate(new File(arguments[0])));
    for (int index = 1; index < arguments.length; index += 1) judge(arguments[index], trust);
  }

  private static void judge(String path, CommonTrustedCertificateSource trust) {
    try {
      CommonCertificateVerifier verifier = new CommonCertificateVerifier();
      verifier.setTrustedCertSources(trust);
      SignedDocumentValidator validator = SignedDocumentValidator.fromDocument(new FileDocument(path));
      validator.setCertificateVerifier(verifier);
      // It would paint all pages twice to compare them, which takes gigabytes for huge ones.
      DefaultPdfDifferencesFinder finder = new DefaultPdfDifferencesFinder();
      finder.setMaximalPagesAmountForVisualComparison(0);
      PdfBoxDefaultObjectFactory factory = new PdfBoxDefaultObjectFactory();
      factory.setPdfDifferencesFinder(finder);
      ((PDFDocumentValidator) validator).setPdfObjFactory(factory);
      Reports reports = validator.validateDocument();
      SimpleReport report = reports.getSimpleReport();
      for (String id : report.getSignatureIdList()) {
        System.out.println(String.join("\t", path, String.valueOf(report.getSignedBy(id)),
            String.valueOf(report.getIndication(id)),
            String.valueOf(report.getSubIndication(id)), String.valueOf(report.getSignatureFormat(id)),
            report.getAdESValidationErrors(id).stream().map(each -> each.getValue()).toList().toString()));
      }
    } catch (Exception | Error error) {
      System.out.println(String.join("\t", path, "MIDCHE", "ERROR", error.toString().replaceAll("\\s+", " "), "", ""));
    }
  }
}
