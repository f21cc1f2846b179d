import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Successive over-relaxation of a grid whose rim is held: stdin gives its side, the sweeps and the values. */
public class RelaxGrid {
    static final double OMEGA = 1.25;

    static List<List<Double>> read(Numbers numbers, int side) throws IOException {
        List<List<Double>> grid = new ArrayList<>();
        for (int row = 0; row < side; row++) {
            List<Double> values = new ArrayList<>();
            for (int column = 0; column < side; column++) {
                values.add((double) numbers.next());
            }
            grid.add(values);
        }
        return grid;
    }

    static void sweep(List<List<Double>> grid) {
        for (int row = 1; row < grid.size() - 1; row++) {
            for (int column = 1; column < grid.get(row).size() - 1; column++) {
                double around = grid.get(row - 1).get(column) + grid.get(row + 1).get(column)
                        + grid.get(row).get(column - 1) + grid.get(row).get(column + 1);
                grid.get(row).set(column, OMEGA * 0.25 * around + (1.0 - OMEGA) * grid.get(row).get(column));
            }
        }
    }

    public static void main(String[] args) throws IOException {
        Numbers numbers = new Numbers();
        int side = numbers.next();
        int sweeps = numbers.next();
        List<List<Double>> grid = read(numbers, side);
        for (int n = 0; n < sweeps; n++) {
            sweep(grid);
        }
        String text = "";
        for (List<Double> row : grid) {
            double sum = 0.0;
            for (double value : row) {
                sum += value;
            }
            text += String.format("%.6f%n", sum);
        }
        System.out.print(text);
    }
}
