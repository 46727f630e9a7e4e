/** An app that runs programs one after the other: each argument is one, with its own arguments. */
class App {
    public static void main(String[] programs) throws Exception {
        for (String program : programs) {
            new ProcessBuilder(program.split(" ")).inheritIO().start().waitFor();
        }
    }
}
