import java.io.FileInputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.results.ValidationResult;

/** Prints for each file: file, flavour of PDF/A that it claims, whether it holds, and what does not. */
public class VeraJudge {
  public static void main(String[] arguments) {
    VeraGreenfieldFoundryProvider.initialise();
    for (String path : arguments) {
      try (PDFAParser parser = Foundries.defaultInstance().createParser(new FileInputStream(path))) {
        PDFAValidator validator =
            Foundries.defaultInstance().createValidator(parser.getFlavour(), false);
        ValidationResult result = validator.validate(parser);
        System.out.println(String.join("\t", path, parser.getFlavour().getId(),
            String.valueOf(result.isCompliant()),
            result.getFailedChecks().keySet().stream()
                .map(each -> each.getClause() + "-" + each.getTestNumber()).sorted().toList().toString()));
      } catch (Exception | Error error) {
        System.out.println(String.join("\t", path, "", "ERROR", error.toString().replaceAll("\\s+", " ")));
      }
    }
  }
}
